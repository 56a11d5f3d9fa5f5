"""The time of the last receipt, written at most once a minute."""

from __future__ import annotations

import datetime as dt
from collections.abc import Iterator
from dataclasses import replace

import pytest

from notifications.core import clock, conf
from notifications.core.store.redis import last_receipts, state


@pytest.fixture(autouse=True)
def _empty() -> Iterator[None]:
    with state.connection() as redis:
        redis.delete("receipts:last")
    last_receipts.forget()
    yield
    last_receipts.forget()


@pytest.fixture
def hands(monkeypatch: pytest.MonkeyPatch) -> list[float]:
    """The seconds of both clocks; a test moves the only entry."""
    seconds = [1_000_000.0]
    monkeypatch.setattr(clock, "monotonic", lambda: seconds[0])
    monkeypatch.setattr(clock, "now", lambda: dt.datetime.fromtimestamp(seconds[0], dt.UTC))
    return seconds


def _at(seconds: float) -> dt.datetime:
    return dt.datetime.fromtimestamp(seconds, dt.UTC)


def test_a_time_is_written_once_a_minute_for_each_provider(hands: list[float]) -> None:
    last_receipts.note("ses")
    hands[0] += 59
    last_receipts.note("ses")
    last_receipts.note("twilio")
    assert last_receipts.load() == {"ses": _at(1_000_000), "twilio": _at(1_000_059)}
    hands[0] += 1
    last_receipts.note("ses")
    assert last_receipts.load()["ses"] == _at(1_000_060)


def test_without_the_state_redis_nothing_is_written_and_nothing_fails(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    away = replace(conf.current(), state_url="redis://127.0.0.1:1/0")
    with monkeypatch.context() as patch:
        patch.setattr(conf, "current", lambda: away)
        state.forget()
        last_receipts.note("ses")
        assert last_receipts.load() == {}
    state.forget()
    assert last_receipts.load() == {}
