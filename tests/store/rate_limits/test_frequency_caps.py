"""The window of a cap: never more than fit, never fewer, whoever asks at once."""

from __future__ import annotations

import datetime as dt
import itertools
import threading
from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import cast
from uuid import UUID

import pytest
import redis

from notifications.core import clock, conf
from notifications.core.rules.rate_limits.frequency_caps import Cap
from notifications.core.rules.states import Status
from notifications.core.store.rate_limits import frequency_caps
from notifications.core.store.rate_limits.frequency_caps import CapRequest, Window
from notifications.core.store.redis import state
from providers.contract import Channel
from tests.store.ageing import age_caps
from tests.store.stored_rows import MakeDelivery

HOUR = dt.timedelta(hours=1)
NONE = dt.timedelta(0)
PUSH = Window(1, Channel.PUSH)
THREE = Cap(3, HOUR)


@pytest.fixture(autouse=True)
def _fresh() -> None:
    state.client().flushdb()


def _new(number: int) -> list[UUID]:
    return [clock.new_notification_id() for _ in range(number)]


def _count(
    wanting: Sequence[UUID], *, cap: Cap = THREE, window: Window = PUSH, always: bool = False
) -> list[dt.timedelta]:
    return frequency_caps.count([CapRequest(each, window, cap, always) for each in wanting])


def _size(window: Window = PUSH) -> int:
    return int(state.client().zcard(window.key))


def _members(window: Window = PUSH) -> set[UUID]:
    found = cast("list[bytes]", state.client().zrange(window.key, 0, -1))
    return {UUID(bytes=each) for each in found}


def test_what_fits_leaves_and_each_of_the_others_has_a_place_of_its_own() -> None:
    first = _new(1)
    assert _count(first) == [NONE]
    age_caps(dt.timedelta(minutes=20))
    waits = _count(_new(4))
    assert waits[:2] == [NONE, NONE]
    minutes = [wait / dt.timedelta(minutes=1) for wait in waits[2:]]
    assert minutes == pytest.approx([40, 60], abs=0.1)
    assert _size() == 3


def test_the_window_slides() -> None:
    first = _new(1)
    _count(first)
    age_caps(dt.timedelta(minutes=30))
    _count(_new(2))
    [wait] = _count(_new(1))
    age_caps(wait - dt.timedelta(seconds=1))
    assert _count(_new(1)) != [NONE]
    age_caps(dt.timedelta(seconds=1))
    assert _count(_new(2))[0] == NONE
    assert _size() == 3


def test_a_repeat_is_counted_once_even_when_the_window_is_full() -> None:
    known = _new(3)
    assert _count(known) == _count(known) == [NONE] * 3
    assert _size() == 3


def test_a_repeat_that_comes_after_its_window_counts_anew() -> None:
    known = _new(1)
    _count(known)
    age_caps(dt.timedelta(minutes=30))
    _count(_new(2))
    age_caps(dt.timedelta(minutes=31))
    assert _count(known) == [NONE]
    assert _count(_new(1)) != [NONE]
    assert _size() == 3


def test_what_is_over_does_not_pile_up() -> None:
    for _ in range(4):
        _count(_new(3), always=True)
        age_caps(HOUR)
    assert _size() == 3


def test_what_must_leave_is_counted_past_the_cap_and_fills_it_for_others() -> None:
    assert _count(_new(5), always=True) == [NONE] * 5
    assert _size() == 5
    waits = _count(_new(1))
    assert HOUR - dt.timedelta(minutes=1) < waits[0] <= HOUR


def test_people_and_channels_have_windows_of_their_own() -> None:
    windows = [Window(1, Channel.PUSH), Window(1, Channel.SMS), Window(2, Channel.PUSH)]
    asks = [
        CapRequest(each, window, Cap(number, HOUR), always=False)
        for number, window in enumerate(windows, start=1)
        for each in _new(3)
    ]
    waits = frequency_caps.count(asks)
    assert [waits[at : at + 3].count(NONE) for at in (0, 3, 6)] == [1, 2, 3]
    assert list(map(_size, windows)) == [1, 2, 3]


def test_a_window_is_forgotten_when_it_is_over() -> None:
    _count(_new(1))
    assert 3_599_000 < state.client().pttl(PUSH.key) <= 3_600_000


def test_fifty_workers_at_once_let_exactly_as_many_through_as_fit() -> None:
    """Each has a client of its own; half of what they ask for was asked for by others too."""
    script = (Path(state.__file__).parent / "lua" / "cap.lua").read_text()
    limit, shared, workers = 40, _new(60), 50
    microseconds = HOUR // dt.timedelta(microseconds=1)
    start = threading.Barrier(workers)

    def worker(number: int) -> list[UUID]:
        own = _new(4)
        with redis.Redis.from_url(conf.current().state_url) as client:
            run = client.register_script(script)
            start.wait(timeout=10)
            through: list[UUID] = []
            for offset in range(12):
                wanting = [shared[(number + offset) % len(shared)], own[offset % len(own)]]
                arguments: list[int | bytes] = [limit, microseconds, 0, len(wanting)]
                arguments += [each.bytes for each in wanting]
                found = run(keys=[PUSH.key] * len(wanting), args=arguments)
                through += [each for each, wait in zip(wanting, found, strict=True) if not wait]
        return through

    with ThreadPoolExecutor(workers) as pool:
        through = set(itertools.chain.from_iterable(pool.map(worker, range(workers))))
    assert len(through) == limit
    assert _members() == through


@pytest.mark.django_db
@pytest.mark.parametrize(
    ("status", "stays"),
    [
        (Status.FAILED, 0),
        (Status.EXPIRED, 0),
        (Status.CANCELLED, 0),
        (Status.SUPPRESSED, 0),
        (Status.SENT, 1),
        (Status.BOUNCED, 1),
        (Status.UNKNOWN, 1),
        (Status.QUEUED, 1),
        (Status.RETRYING, 1),
    ],
)
def test_only_what_never_left_is_taken_back(
    make_delivery: MakeDelivery, status: Status, stays: int
) -> None:
    window = Window(7, Channel.EMAIL)
    notification_id = UUID(int=make_delivery(status).int & ~0xFFF)
    _count([notification_id], window=window)
    frequency_caps.refund([(window, notification_id)])
    assert _size(window) == stays


@pytest.mark.django_db
def test_what_was_sent_before_its_receipt_said_failed_stays_counted(
    make_delivery: MakeDelivery,
) -> None:
    window = Window(7, Channel.EMAIL)
    delivery_id = make_delivery(Status.FAILED, sent_at=clock.now())
    notification_id = UUID(int=delivery_id.int & ~0xFFF)
    _count([notification_id], window=window)
    frequency_caps.refund([(window, notification_id)])
    assert _size(window) == 1
