"""A producer's backlog does not delay another producer's rows in the same lane."""

from __future__ import annotations

import datetime as dt

import pytest
import redis

from notifications.core import clock
from notifications.core.rules.lane import Lane, Mode, Priority
from notifications.core.store.postgres import fair_queue
from notifications.core.store.postgres.fair_queue import Ask
from notifications.core.store.redis import state
from providers.contract import Channel

_LANE = Lane(Mode.LIVE, Priority.P3, Channel.EMAIL)
_OTHER = Lane(Mode.LIVE, Priority.P2, Channel.EMAIL)
_US = dt.timedelta(microseconds=1)
_FLOOD, _SMALL, _THIRD = 1, 2, 3


@pytest.fixture(autouse=True)
def _fresh() -> None:
    state.client().flushdb()


def _places(
    producer: int, count: int, *, now: dt.datetime, lane: Lane = _LANE
) -> list[dt.datetime]:
    return fair_queue.places([Ask(lane, producer)] * count, now=now)


def test_without_a_backlog_rows_are_due_now_in_their_order() -> None:
    now = clock.now()
    assert _places(_FLOOD, 3, now=now) == [now + number * _US for number in (1, 2, 3)]
    later = now + dt.timedelta(seconds=1)
    assert _places(_FLOOD, 1, now=later) == [later + _US]


def test_the_first_row_of_another_producer_comes_next() -> None:
    now = clock.now()
    flood = _places(_FLOOD, 1_000_000, now=now)
    fair_queue.note_taken(_LANE, last=flood[500])
    late = now + dt.timedelta(minutes=10)
    [small] = _places(_SMALL, 1, now=late)
    assert flood[500] <= small <= flood[501]
    assert _places(_FLOOD, 1, now=late) == [flood[-1] + _US]


def test_two_backlogs_take_turns() -> None:
    now = clock.now()
    first = _places(_FLOOD, 1_000, now=now)
    fair_queue.note_taken(_LANE, last=first[99])
    second = _places(_SMALL, 1_000, now=now + dt.timedelta(seconds=30))
    queue = sorted([(place, _FLOOD) for place in first[100:]] + [(each, _SMALL) for each in second])
    turns = [producer for _, producer in queue[:200]]
    assert 95 <= turns.count(_SMALL) <= 105


def test_lanes_do_not_share_their_places_and_a_drained_lane_forgets() -> None:
    now = clock.now()
    flood = _places(_FLOOD, 10, now=now)
    fair_queue.note_taken(_LANE, last=flood[2])
    later = now + dt.timedelta(minutes=1)
    assert _places(_SMALL, 1, now=later, lane=_OTHER) == [later + _US]
    assert _places(_SMALL, 1, now=later) == [flood[2] + _US]
    fair_queue.note_taken(_LANE, last=None)
    assert _places(_THIRD, 1, now=later) == [later + _US]


def test_each_producer_and_lane_of_a_list_has_places_in_the_order_of_its_rows() -> None:
    now = clock.now()
    asks = [Ask(*each) for each in ((_LANE, 1), (_LANE, 1), (_OTHER, 1), (_LANE, 2), (_LANE, 1))]
    places = fair_queue.places(asks, now=now)
    assert [(each - now) // _US for each in places] == [1, 2, 1, 1, 3]


def test_without_redis_rows_are_due_at_once(monkeypatch: pytest.MonkeyPatch) -> None:
    def away(*_arguments: object) -> None:
        raise state.Away from redis.ConnectionError()

    monkeypatch.setattr(state, "call", away)
    now = clock.now()
    assert _places(_FLOOD, 2, now=now) == [now, now]
    fair_queue.note_taken(_LANE, last=now)
