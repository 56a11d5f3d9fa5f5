"""Slow clients hold threads and no slots; how many threads they hold is bounded."""

from __future__ import annotations

import io
import threading
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import Future, ThreadPoolExecutor
from typing import Any

import pytest
from django.core.handlers.wsgi import WSGIHandler
from django.db import connection
from django.http import HttpResponse, StreamingHttpResponse

from notifications.core.api import body_readers
from notifications.core.api.body_limits import MEBIBYTE
from notifications.core.api.problems import TooManyReaders
from notifications.core.api.request_slots import CALLER, BrokenBody, Slots
from notifications.core.intake.group_commit import Finished, GroupCommit

SECONDS = 30
Django = Callable[[dict[str, Any], Callable[..., Any]], HttpResponse | StreamingHttpResponse]


class Client:
    """A body that the test releases; a read of `wsgi.input` waits for the release."""

    def __init__(self, body: bytes, *, length: int = 0) -> None:
        self.body = body
        self.length = length or len(body)
        self.is_read = threading.Event()
        self.comes = threading.Event()

    def read(self, size: int) -> bytes:
        self.is_read.set()
        assert self.comes.wait(SECONDS)
        return self.body[:size]

    def asks(self, **environ: str) -> dict[str, Any]:
        head = {"PATH_INFO": "/v1/notifications", "REMOTE_ADDR": "192.0.2.1", **environ}
        return {**head, "CONTENT_LENGTH": str(self.length), "wsgi.input": self}


def _started(*_head: object) -> Callable[[bytes], object]:
    return io.BytesIO().write


def _reads(environ: dict[str, Any], _start: Callable[..., Any]) -> HttpResponse:
    return HttpResponse(environ["wsgi.input"].read())


@pytest.fixture(autouse=True)
def _no_moment(monkeypatch: pytest.MonkeyPatch) -> None:
    """Whoever waits counts at once."""
    monkeypatch.setattr(body_readers, "MOMENT_SECONDS", 0.0)


@pytest.fixture
def pool() -> Iterator[ThreadPoolExecutor]:
    """The server's threads."""
    with ThreadPoolExecutor(64) as threads:
        yield threads


def _slots(django: Django, *, slots: int = 1, threads: int = 32) -> Slots:
    return Slots(django, slots=slots, threads=threads)


def _of(pool: ThreadPoolExecutor, work: Callable[..., Any], *arguments: object) -> Any:  # noqa: ANN401 - whatever it returns
    """Do it on a thread of the server: the test's own thread has a connection of its own."""
    return pool.submit(work, *arguments).result(SECONDS)


def _content(answer: Future[object]) -> bytes:
    content = answer.result(SECONDS)
    assert isinstance(content, list)
    return b"".join(content)


def test_a_body_that_does_not_come_holds_no_slot(pool: ThreadPoolExecutor) -> None:
    application = _slots(_reads)
    slow, fast = Client(b"slow"), Client(b"fast")
    waiting = pool.submit(application, slow.asks(), _started)
    assert slow.is_read.wait(SECONDS)
    fast.comes.set()
    assert _content(pool.submit(application, fast.asks(), _started)) == b"fast"
    slow.comes.set()
    assert _content(waiting) == b"slow"


def test_strangers_hold_a_quarter_of_the_threads_and_callers_are_heard(
    pool: ThreadPoolExecutor,
) -> None:
    def recognises(environ: dict[str, Any], start: Callable[..., Any]) -> HttpResponse:
        environ[CALLER] = environ.get("HTTP_X_KEY", "")
        return _reads(environ, start)

    application = _slots(recognises)
    slow = [Client(b"x") for _ in range(8)]
    held = [
        pool.submit(application, each.asks(REMOTE_ADDR=f"192.0.2.{number // 2}"), _started)
        for number, each in enumerate(slow)
    ]
    assert all(each.is_read.wait(SECONDS) for each in slow)
    with pytest.raises(TooManyReaders):
        _of(pool, application, Client(b"x").asks(REMOTE_ADDR="198.51.100.1"), _started)
    known = Client(b"known")
    known.comes.set()
    assert _of(pool, application, known.asks(HTTP_X_KEY="nk_live_1"), _started) == [b"known"]
    for each in slow:
        each.comes.set()
    assert [_content(each) for each in held] == [b"x"] * 8
    more = Client(b"more")
    more.comes.set()
    assert _of(pool, application, more.asks(), _started) == [b"more"]


def test_one_address_holds_a_sixteenth(pool: ThreadPoolExecutor) -> None:
    application = _slots(_reads)
    slow = [Client(b"x") for _ in range(2)]
    held = [pool.submit(application, each.asks(), _started) for each in slow]
    assert all(each.is_read.wait(SECONDS) for each in slow)
    with pytest.raises(TooManyReaders):
        _of(pool, application, Client(b"x").asks(), _started)
    other = Client(b"other")
    other.comes.set()
    assert _of(pool, application, other.asks(REMOTE_ADDR="192.0.2.2"), _started) == [b"other"]
    for each in slow:
        each.comes.set()
    assert [_content(each) for each in held] == [b"x"] * 2


def test_a_burst_of_bodies_that_come_at_once_is_taken() -> None:
    """One address, one key: many more at once than may be slow."""
    counted = body_readers.Readers(32)
    body_readers.MOMENT_SECONDS = 10.0  # type: ignore[misc]  # undone by the fixture
    begun = [counted.enter(caller="nk_live_1", address="", size=100) for _ in range(100)]
    begun += [counted.enter(caller="", address="192.0.2.1", size=100) for _ in range(24)]
    with pytest.raises(TooManyReaders):
        counted.enter(caller="", address="192.0.2.2", size=100)
    for since in begun[:100]:
        counted.leave(since, caller="nk_live_1", address="")
    for since in begun[100:]:
        counted.leave(since, caller="", address="192.0.2.1")
    assert set(counted._since) <= {"callers", "strangers"}


def test_large_bodies_that_are_held_keep_no_small_one_out() -> None:
    counted = body_readers.Readers(320)
    largest = 16 * MEBIBYTE
    for number in range(16):
        counted.enter(caller=f"nk_live_{number}", address="", size=largest)
    with pytest.raises(TooManyReaders):
        counted.enter(caller="nk_live_a", address="", size=largest)
    counted.enter(caller="nk_live_b", address="", size=1_000)
    counted.forget(largest)
    counted.enter(caller="nk_live_c", address="", size=largest - 1_000)


def test_half_a_body_is_no_body(pool: ThreadPoolExecutor) -> None:
    half = Client(b"half", length=8)
    half.comes.set()
    with pytest.raises(BrokenBody):
        _of(pool, _slots(_reads), half.asks(), _started)


def test_requests_get_a_slot_in_their_turn(pool: ThreadPoolExecutor) -> None:
    turns: list[str] = []
    free = threading.Event()
    begun = threading.Event()

    def works(environ: dict[str, Any], _start: Callable[..., Any]) -> HttpResponse:
        begun.set()
        assert free.wait(SECONDS)
        turns.append(environ["PATH_INFO"])
        return HttpResponse(b"done")

    application = _slots(works)
    answers = [pool.submit(application, {"PATH_INFO": "/0"}, _started)]
    assert begun.wait(SECONDS)
    for number in range(1, 6):
        answers.append(pool.submit(application, {"PATH_INFO": f"/{number}"}, _started))
        while len(application._free._waiting) < number:
            threading.Event().wait(0.001)
    free.set()
    assert [_content(each) for each in answers] == [b"done"] * 6
    assert turns == [f"/{number}" for number in range(6)]


@pytest.mark.django_db(transaction=True)
def test_requests_that_wait_for_a_group_hold_no_slot(pool: ThreadPoolExecutor) -> None:
    """Two slots: the first has the leader, and all others pass through the second."""
    begun, go_on = threading.Event(), threading.Event()
    groups: list[int] = []

    def store(calls: Sequence[str]) -> Finished[bytes]:
        groups.append(len(calls))
        if not begun.is_set():
            begun.set()
            assert go_on.wait(SECONDS)
        return [_pid() for _ in calls], lambda: None

    group = GroupCommit[str, bytes](store, lambda _call: b"alone")

    def asks(environ: dict[str, Any], _start: Callable[..., Any]) -> HttpResponse:
        if environ["PATH_INFO"] == "/other":
            return HttpResponse(_pid())
        stored = group.run(environ["PATH_INFO"])
        return HttpResponse(stored + b" " + _pid())

    application = _slots(asks, slots=2)
    answers = [pool.submit(application, {"PATH_INFO": "/0"}, _started)]
    assert begun.wait(SECONDS)
    answers += [
        pool.submit(application, {"PATH_INFO": f"/{number}"}, _started) for number in range(1, 13)
    ]
    while len(group._waiting) < 12:
        threading.Event().wait(0.001)
    others = {_content(pool.submit(application, {"PATH_INFO": "/other"}, _started))}
    go_on.set()
    pids = {pid for each in answers for pid in _content(each).split()}
    assert groups == [1, 12]
    assert len(pids | others) <= 2
    application.close()


def _pid() -> bytes:
    with connection.cursor() as cursor:
        cursor.execute("SELECT pg_backend_pid()")
        return str(cursor.fetchone()[0]).encode()


def test_health_is_answered_while_each_slot_is_busy(pool: ThreadPoolExecutor) -> None:
    free = threading.Event()
    begun = threading.Event()

    def works(environ: dict[str, Any], _start: Callable[..., Any]) -> HttpResponse:
        if environ["PATH_INFO"] != "/healthz":
            begun.set()
            assert free.wait(SECONDS)
        return HttpResponse(b"done")

    application = _slots(works)
    busy = pool.submit(application, {"PATH_INFO": "/v1/notifications"}, _started)
    assert begun.wait(SECONDS)
    assert _of(pool, application, {"PATH_INFO": "/healthz"}, _started) == [b"done"]
    free.set()
    assert _content(busy) == b"done"


def test_a_stream_that_is_not_read_holds_no_slot(pool: ThreadPoolExecutor) -> None:
    closed: list[bool] = []

    def streams(_environ: dict[str, Any], _start: Callable[..., Any]) -> StreamingHttpResponse:
        answer = StreamingHttpResponse([b"x" * 40_000] * 4)
        answer._resource_closers.append(lambda: closed.append(True))  # type: ignore[attr-defined]  # Django's own
        return answer

    application = _slots(streams, threads=8)
    streamed: Any = _of(pool, application, {"PATH_INFO": "/a"}, _started)
    assert _of(pool, next, streamed) == b"x" * 80_000
    # The only slot is free: another one streams meanwhile.
    other: Any = _of(pool, application, {"PATH_INFO": "/b"}, _started)
    assert _of(pool, b"".join, other) == b"x" * 160_000
    assert _of(pool, b"".join, streamed) == b"x" * 80_000
    # A third has no room until one of the two is closed.
    assert _of(pool, application, {"PATH_INFO": "/c"}, _started) == [
        b"too many files are being read; try again"
    ]
    _of(pool, streamed.close)
    third: Any = _of(pool, application, {"PATH_INFO": "/d"}, _started)
    assert _of(pool, next, third)
    assert len(closed) == 2


@pytest.mark.django_db(transaction=True)
def test_any_number_of_threads_share_the_connections_of_the_slots(
    pool: ThreadPoolExecutor,
) -> None:
    def asks(environ: dict[str, Any], _start: Callable[..., Any]) -> HttpResponse:
        environ["wsgi.input"].read()
        return HttpResponse(_pid())

    application = _slots(asks, slots=3)
    clients = [Client(b"x") for _ in range(8)]
    answers = [
        pool.submit(application, each.asks(REMOTE_ADDR=f"192.0.2.{number}"), _started)
        for number, each in enumerate(clients)
    ]
    assert all(each.is_read.wait(SECONDS) for each in clients)
    for each in clients:
        each.comes.set()
    assert len({_content(each) for each in answers}) <= 3
    application.close()


@pytest.mark.django_db(transaction=True)
def test_too_many_readers_are_told_when_to_come_back(pool: ThreadPoolExecutor) -> None:
    application = Slots(WSGIHandler(), slots=1, threads=0)
    heads: list[tuple[str, dict[str, str]]] = []

    def start(status: str, headers: list[tuple[str, str]], *_error: object) -> Any:  # noqa: ANN401 - WSGI's
        heads.append((status, dict(headers)))

    environ = Client(b"{}").asks(PATH_INFO="/v1/receipts/sandbox", REQUEST_METHOD="POST")
    environ |= {"SERVER_NAME": "testserver", "SERVER_PORT": "80", "wsgi.url_scheme": "http"}
    environ |= {"CONTENT_TYPE": "application/json", "HTTP_WEBHOOK_ID": "a"}
    environ |= {"HTTP_WEBHOOK_TIMESTAMP": "1", "HTTP_WEBHOOK_SIGNATURE": "v1,x"}
    [content] = _of(pool, application, environ, start)
    [(status, headers)] = heads
    assert status.startswith("503"), content
    assert headers["Retry-After"] == "1"
    application.close()
