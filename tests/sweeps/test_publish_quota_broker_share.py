"""The share of a lane in the broker is about a second of work, in messages of one size."""

from __future__ import annotations

import math

import pytest

from notifications.core import lanes
from notifications.core.rules.lane import Lane, Mode, Priority
from notifications.core.sweeps.publish_quota import (
    FIRST_SHARE,
    LEAST_SHARE,
    MESSAGES_OF_SHARE,
    SMALLEST_MESSAGE,
    BrokerShares,
)
from providers.contract import Channel

_LANE = Lane(Mode.LIVE, Priority.P3, Channel.PUSH)


@pytest.mark.parametrize("speed", [300, 700, 1_000, 2_500, 6_000])
def test_the_rows_in_the_broker_settle_near_a_second_of_work(speed: int) -> None:
    shares, waiting, seen = BrokerShares(), 0, []
    for _ in range(120):
        depth = math.ceil(waiting / shares.message_size(_LANE))
        free = shares.free(_LANE, depth=depth, most=24)
        shares.note_published(_LANE, left_over=True)
        seen.append(waiting + free)
        waiting = max(0, waiting + free - speed)
    assert speed * 0.9 <= sum(seen[-50:]) / 50 <= speed * 2 + SMALLEST_MESSAGE, seen


def test_a_slow_lane_has_the_least_share() -> None:
    shares, waiting = BrokerShares(), 0
    for _ in range(120):
        depth = math.ceil(waiting / SMALLEST_MESSAGE)
        waiting += shares.free(_LANE, depth=depth, most=24)
        shares.note_published(_LANE, left_over=True)
        assert waiting <= FIRST_SHARE
        waiting = max(0, waiting - 40)
    assert waiting <= LEAST_SHARE


def test_a_message_has_an_eighth_of_the_share_or_the_smallest_size() -> None:
    shares = BrokerShares()
    assert shares.message_size(_LANE) == SMALLEST_MESSAGE
    shares.note_published(_LANE, left_over=True)
    given = [shares.free(_LANE, depth=0, most=24) for _ in range(2)]
    size = shares.message_size(_LANE)
    assert SMALLEST_MESSAGE < size < lanes.CHUNK
    assert (given[-1] % size, given[-1] // size) == (0, MESSAGES_OF_SHARE)


def test_neither_the_share_nor_a_message_passes_its_limit() -> None:
    shares = BrokerShares()
    for _ in range(30):
        shares.free(_LANE, depth=0, most=24)
        shares.note_published(_LANE, left_over=True)
    assert shares.free(_LANE, depth=0, most=24) == 24 * lanes.CHUNK
    assert shares.message_size(_LANE) == lanes.CHUNK
    assert shares.free(_LANE, depth=20, most=24) <= 4 * lanes.CHUNK
    assert shares.free(_LANE, depth=30, most=24) == 0


def test_a_lane_without_left_over_rows_keeps_its_share() -> None:
    shares = BrokerShares()
    for _ in range(30):
        shares.free(_LANE, depth=0, most=24)
        shares.note_published(_LANE, left_over=False)
    assert shares.free(_LANE, depth=0, most=24) == FIRST_SHARE
