"""A result is read once in a second, by one thread, and each thread follows within two seconds."""

from __future__ import annotations

import threading
from concurrent.futures import ThreadPoolExecutor

import pytest

from notifications.core import clock
from notifications.core.store.cached import ttl_cache
from notifications.core.store.cached.ttl_cache import Fresh

_THREADS = 6


class _Table:
    """A table whose read can wait."""

    def __init__(self) -> None:
        self.row = 0
        self.reads = 0
        self.is_read = threading.Event()
        self.may_end = threading.Event()
        self.may_end.set()

    def read(self) -> int:
        self.reads += 1
        found = self.row
        self.is_read.set()
        assert self.may_end.wait(10)
        return found


@pytest.fixture
def second(monkeypatch: pytest.MonkeyPatch) -> list[float]:
    now = [100.0]
    monkeypatch.setattr(clock, "monotonic", lambda: now[0])
    return now


def test_one_thread_reads_while_others_take_the_result_of_the_second_before(
    second: list[float],
) -> None:
    table = _Table()
    cache = Fresh(table.read)
    assert cache() == 0
    second[0], table.row = 101.0, 1
    table.is_read.clear()
    table.may_end.clear()
    with ThreadPoolExecutor(1) as other:
        reading = other.submit(cache)
        assert table.is_read.wait(10)
        assert [cache() for _ in range(_THREADS)] == [0] * _THREADS
        table.may_end.set()
        assert reading.result() == 1
    assert (cache(), table.reads) == (1, 2)


@pytest.mark.parametrize("later", [102.0, 160.0])
def test_no_thread_takes_an_older_result(second: list[float], later: float) -> None:
    table = _Table()
    cache = Fresh(table.read)
    cache()
    second[0], table.row = later, 1
    table.is_read.clear()
    table.may_end.clear()
    with ThreadPoolExecutor(2) as others:
        reading = [others.submit(cache) for _ in range(2)]
        assert table.is_read.wait(10)
        table.may_end.set()
        assert [each.result() for each in reading] == [1, 1]


def test_a_read_that_began_before_forget_is_not_kept(second: list[float]) -> None:
    table = _Table()
    cache = Fresh(table.read)
    table.may_end.clear()
    with ThreadPoolExecutor(1) as other:
        reading = other.submit(cache)
        assert table.is_read.wait(10)
        cache.forget()
        table.row = 1
        table.may_end.set()
        assert reading.result() == 0
    assert cache() == 1
    assert second == [100.0]


def test_no_result_of_a_read_before_forget_is_kept_at_the_last_moment(
    second: list[float], monkeypatch: pytest.MonkeyPatch
) -> None:
    table = _Table()
    cache = Fresh(table.read)
    keep = ttl_cache._Kept

    def forget_and_keep(*columns: object) -> object:
        table.row = 1
        cache.forget()
        return keep._make(columns)

    with monkeypatch.context() as patched:
        patched.setattr(ttl_cache, "_Kept", forget_and_keep)
        assert cache() == 0
    assert cache() == 1
    assert second == [100.0]


def test_an_error_is_of_the_caller_and_the_next_call_reads(second: list[float]) -> None:
    tries = iter([OSError("away"), None])

    def read() -> int:
        if (error := next(tries)) is not None:
            raise error
        return 7

    cache = Fresh(read)
    with pytest.raises(OSError, match="away"):
        cache()
    assert cache() == 7
    assert second == [100.0]
