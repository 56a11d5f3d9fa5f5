"""Burn rates and backlogs: what alarms, and what must not."""

from __future__ import annotations

import datetime as dt
import statistics
from collections.abc import Callable, Iterable

import pytest

from notifications.core.rules import service_levels as rules
from notifications.core.rules.alerts import Severity
from notifications.core.rules.lane import Priority
from notifications.core.rules.service_levels import (
    DELIVERED,
    LENGTHS,
    PUNCTUAL,
    REACHED,
    BacklogPoint,
    EventShare,
    UsualDepth,
)

NOW = dt.datetime(2026, 11, 23, 9, 0, tzinfo=dt.UTC)
MINUTE = dt.timedelta(minutes=1)
HOUR = dt.timedelta(hours=1)


def shares(per_minute: int, bad: Callable[[dt.timedelta], float]) -> dict[dt.timedelta, EventShare]:
    """Steady traffic, with the share of failures that `bad` gives for each age of a minute."""
    found = {}
    for length in LENGTHS:
        failures = sum(per_minute * bad(minute * MINUTE) for minute in range(length // MINUTE))
        whole = round(failures)
        found[length] = EventShare(per_minute * (length // MINUTE) - whole, whole)
    return found


@pytest.mark.parametrize(
    ("share", "severity"), [(0.02, Severity.PAGE), (0.007, Severity.PAGE), (0.002, Severity.TICKET)]
)
def test_a_lasting_failure_burns_the_budget(share: float, severity: Severity) -> None:
    found = rules.burning(DELIVERED, shares(1_000, lambda _age: share))
    assert found is not None
    assert found.severity is severity


def test_a_share_within_the_budget_is_silent() -> None:
    assert rules.burning(DELIVERED, shares(1_000, lambda _age: 0.0005)) is None


def test_the_page_ends_minutes_after_the_cause() -> None:
    def outage(ended: dt.timedelta) -> Callable[[dt.timedelta], float]:
        return lambda age: 1.0 if ended <= age < ended + 10 * MINUTE else 0.0

    during = rules.burning(DELIVERED, shares(100, outage(dt.timedelta())))
    assert during is not None
    assert during.rate == 14.4
    after = rules.burning(DELIVERED, shares(100, outage(40 * MINUTE)))
    assert after is None or after.severity is Severity.TICKET


def test_single_failures_of_little_traffic_are_silent() -> None:
    assert rules.burning(DELIVERED, shares(5, lambda age: 0.2 if age < 5 * MINUTE else 0)) is None
    nothing = dict.fromkeys(LENGTHS, EventShare(0, 0))
    assert rules.burning(DELIVERED, nothing) is None


def test_the_promise_about_notifications_counts_a_day_and_three_days() -> None:
    day, lost = 24 * HOUR, EventShare(1_000, 10)
    found = rules.burning(REACHED, {3 * day: lost, day: lost})
    assert found is not None
    assert found.severity is Severity.TICKET
    assert rules.burning(REACHED, {3 * day: lost, day: EventShare(900, 0)}) is None
    assert rules.burning(REACHED, {3 * day: EventShare(20_000, 10), day: lost}) is None


def test_late_minutes_burn_the_budget_of_a_priority() -> None:
    level, _ = PUNCTUAL[Priority.P1]
    minutes = {length: EventShare(length // MINUTE, 0) for length in LENGTHS}
    assert rules.burning(level, minutes) is None
    late = {length: EventShare(max(length // MINUTE - 10, 0), 10) for length in LENGTHS}
    late[5 * MINUTE] = EventShare(0, 5)
    found = rules.burning(level, late)
    assert found is not None
    assert found.severity is Severity.PAGE


def points(depths: Iterable[int], *, behind: dt.timedelta = MINUTE) -> list[BacklogPoint]:
    listed = list(depths)
    return [
        BacklogPoint(NOW - (len(listed) - index) * MINUTE, depth, behind)
        for index, depth in enumerate(listed)
    ]


def usual(depths: Iterable[int]) -> UsualDepth:
    listed = list(depths)
    return UsualDepth(len(listed), statistics.fmean(listed), statistics.pstdev(listed))


_WEEK = 7 * 24 * 60
FEW = usual(int(minute % 5 == 0) for minute in range(_WEEK))
BUSY = usual(minute * 37 % 401 for minute in range(_WEEK))


def test_a_depth_that_stays_far_above_the_usual_depth_alarms() -> None:
    assert rules.is_unusual([4_000] * 10, BUSY)
    assert rules.is_unusual(range(2_000, 12_000, 1_000), BUSY)


@pytest.mark.parametrize(
    ("recent", "before"),
    [
        pytest.param([1, 0, 2, 3, 1, 5, 2, 1, 4, 1], FEW, id="five messages a minute"),
        pytest.param([40] * 10, FEW, id="a small campaign of a small service"),
        pytest.param([0] * 10, BUSY, id="a night without traffic"),
        pytest.param([9_000] * 10, usual([0] * 60), id="a cold start"),
        pytest.param([9_000] * 10, UsualDepth(0, 0.0, 0.0), id="no history"),
        pytest.param(
            [0, 0, 9_900, 8_000, 6_500, 5_000, 3_500, 2_500, 1_800, 1_200],
            BUSY,
            id="a release after quiet hours",
        ),
        pytest.param(
            [9_900, 9_300, 8_700, 8_100, 7_500, 6_900, 6_300, 5_700, 5_100, 4_500],
            BUSY,
            id="a slow release after quiet hours",
        ),
        pytest.param([300] * 10, BUSY, id="a usual peak"),
        pytest.param([5_000] * 9, BUSY, id="nine minutes"),
    ],
)
def test_no_false_alarm_about_the_depth(recent: list[int], before: UsualDepth) -> None:
    assert not rules.is_unusual(recent, before)


def test_ten_thousand_due_deliveries_alarm_after_five_minutes() -> None:
    assert rules.is_deep(points([10_000] * 5))
    assert not rules.is_deep(points([10_000] * 4))
    assert not rules.is_deep(points([10_000, 10_000, 9_000, 10_000, 10_000]))


@pytest.mark.parametrize(
    ("priority", "seconds", "expected"),
    [
        (Priority.P0, 31, True),
        (Priority.P0, 20, False),
        (Priority.P1, 61, True),
        (Priority.P3, 61, False),
        (Priority.P3, 1_000, True),
    ],
)
def test_two_late_minutes_are_a_lag(priority: Priority, seconds: int, *, expected: bool) -> None:
    late = dt.timedelta(seconds=seconds)
    assert rules.is_behind(priority, points([5, 5], behind=late)) is expected
    assert not rules.is_behind(priority, points([5], behind=late))


def test_shares_need_a_number_of_events() -> None:
    assert rules.is_retry_success_low(EventShare(12, 8), 65)
    assert not rules.is_retry_success_low(EventShare(14, 7), 65)
    assert not rules.is_retry_success_low(EventShare(1, 8), 65), "too few"
    assert rules.is_permanent_high(EventShare(100, 10), 5)
    assert not rules.is_permanent_high(EventShare(300, 10), 5)
    assert not rules.is_permanent_high(EventShare(10, 5), 5), "too few"
    assert rules.is_unknown_high(EventShare(1_000, 20), 1)
    assert not rules.is_unknown_high(EventShare(10, 5), 1), "too few"
    assert rules.is_processing_slow(EventShare(90, 10))
    assert not rules.is_processing_slow(EventShare(5, 5)), "too few"
