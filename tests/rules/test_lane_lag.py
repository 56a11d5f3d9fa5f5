"""The lag of lanes: which lanes have limits, and how many workers are wanted."""

from __future__ import annotations

import pytest

from notifications.core.rules import lane_lag
from notifications.core.rules.lane import LANES, Lane, Mode, Priority
from providers.contract import Channel


def test_only_live_p3_lanes_have_limits() -> None:
    limited = [lane for lane in LANES if lane_lag.is_limited(lane)]
    assert {(lane.mode, lane.priority) for lane in limited} == {(Mode.LIVE, Priority.P3)}
    assert len(limited) == len(Channel)


@pytest.mark.parametrize(
    ("lag", "p2", "p3"),
    [(0, 8, 4), (100_000, 8, 4), (100_001, 9, 5), (250_000, 20, 10), (50_000_000, 32, 64)],
)
def test_workers_are_recommended_within_the_bounds_of_the_priority(
    lag: int, p2: int, p3: int
) -> None:
    waiting = {
        Lane(Mode.LIVE, priority, channel): lag // 2 + (lag % 2 if channel is Channel.SMS else 0)
        for priority in Priority
        for channel in (Channel.SMS, Channel.PUSH)
    }
    waiting[Lane(Mode.TEST, Priority.P3, Channel.PUSH)] = 10**9
    assert lane_lag.workers_wanted(waiting) == {Priority.P2: p2, Priority.P3: p3}
