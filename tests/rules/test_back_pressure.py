"""The limits of the lag: when posts are refused, for how long, and how many workers are wanted."""

from __future__ import annotations

import datetime as dt
from dataclasses import replace

import pytest

from notifications.rules import back_pressure
from notifications.rules.back_pressure import DEFAULTS
from notifications.rules.lane import LANES, Lane, Mode, Priority
from providers.contract import Channel

_NONE = dt.timedelta(0)
_LIMITS = replace(DEFAULTS, refuse_waiting=1_000, refuse_behind=dt.timedelta(minutes=100))


def test_only_live_p3_lanes_have_limits() -> None:
    limited = [lane for lane in LANES if back_pressure.is_limited(lane)]
    assert {(lane.mode, lane.priority) for lane in limited} == {(Mode.LIVE, Priority.P3)}
    assert len(limited) == len(Channel)


@pytest.mark.parametrize(
    ("waiting", "minutes", "before_and_after"),
    [
        (1_000, 100, (False, False)),
        (1_001, 0, (False, True)),
        (0, 101, (False, True)),
        (801, 0, (True, True)),
        (800, 80, (True, False)),
        (0, 81, (True, True)),
    ],
)
def test_a_refusal_ends_at_a_lower_lag_than_it_began(
    waiting: int, minutes: int, before_and_after: tuple[bool, bool]
) -> None:
    before, after = before_and_after
    behind = dt.timedelta(minutes=minutes)
    refuses = back_pressure.refuses
    assert refuses(_LIMITS, waiting=waiting, behind=behind, refused_before=before) is after


@pytest.mark.parametrize(
    ("waiting", "behind", "per_second", "seconds"),
    [
        (1_300, _NONE, 5.0, 100),  # 500 above the end of the refusal
        (1_300, _NONE, 500.0, 30),
        (1_300, _NONE, 0.0, 60),
        (10_000_000, _NONE, 5.0, 900),
        (0, dt.timedelta(minutes=81), 5.0, 60),
        (0, dt.timedelta(days=3), 0.0, 900),
    ],
)
def test_the_wait_follows_from_the_lag_and_the_rate_within_bounds(
    waiting: int, behind: dt.timedelta, per_second: float, seconds: int
) -> None:
    wait = back_pressure.wait(_LIMITS, waiting=waiting, behind=behind, per_second=per_second)
    assert wait == dt.timedelta(seconds=seconds)


def test_jitter_makes_the_wait_longer_by_up_to_half() -> None:
    assert back_pressure.with_jitter(60, chance=0.0) == dt.timedelta(seconds=60)
    assert back_pressure.with_jitter(60, chance=0.99) == dt.timedelta(seconds=90)


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
    assert back_pressure.workers_wanted(waiting) == {Priority.P2: p2, Priority.P3: p3}
