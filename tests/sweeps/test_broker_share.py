"""The share of a lane in the broker is one to two seconds of work."""

from __future__ import annotations

import pytest

from notifications.rules.lane import Lane, Mode, Priority
from notifications.sweeps.broker_share import FIRST, LEAST, BrokerShares
from providers.contract import Channel

_LANE = Lane(Mode.LIVE, Priority.P3, Channel.PUSH)


@pytest.mark.parametrize("speed", [1, 3, 5, 9, 16])
def test_the_share_settles_between_one_and_two_seconds_of_work(speed: int) -> None:
    shares, depth, seen = BrokerShares(), 0, []
    for _ in range(60):
        share = shares.share(_LANE, depth=depth, most=24)
        shares.note_published(_LANE, left_over=True)
        depth = max(0, max(depth, share) - speed)
        seen.append(share)
    assert all(speed <= each <= 2 * speed + 1 or each == LEAST for each in seen[-10:]), seen


def test_the_share_never_passes_the_most() -> None:
    shares = BrokerShares()
    for _ in range(30):
        shares.share(_LANE, depth=0, most=24)
        shares.note_published(_LANE, left_over=True)
    assert shares.share(_LANE, depth=0, most=24) == 24


def test_a_lane_without_left_over_rows_keeps_its_share() -> None:
    shares = BrokerShares()
    for _ in range(30):
        shares.share(_LANE, depth=0, most=24)
        shares.note_published(_LANE, left_over=False)
    assert shares.share(_LANE, depth=0, most=24) == FIRST
