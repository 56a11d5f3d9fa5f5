"""Service levels: burn rates of error budgets, and limits of the backlog.

A service level has a target, such as 99.9 % of deliveries sent. The error budget is the rest. The
burn rate is the share of failures divided by the error budget: at rate 1 a month uses up the budget
of a month. An alert needs the rate in a long and in a short window (Google, "The Site Reliability
Workbook", chapter 5), so that an alert ends minutes after its cause:

    14.4 times over an hour and 5 minutes      page      2 % of the budget of a month in an hour
    6 times over 6 hours and 30 minutes        page      5 % in 6 hours
    1 time over 3 days and 6 hours             ticket    10 % in 3 days

With little traffic a single failure is a large share, so that a window needs `FEWEST_BAD` failures.
"""

from __future__ import annotations

import datetime as dt
import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Final, NamedTuple

from notifications.core.rules.alerts import Severity
from notifications.core.rules.lane import Priority

_MINUTE: Final = dt.timedelta(minutes=1)
_HOUR: Final = dt.timedelta(hours=1)


class EventShare(NamedTuple):
    """Good and bad events of a window."""

    good: int
    bad: int

    @property
    def share(self) -> float:
        """The share of bad events; 0 without events."""
        return self.bad / (self.good + self.bad) if self.good + self.bad else 0.0


class BurnWindow(NamedTuple):
    """A burn rate, reported if reached in the long and the short window."""

    rate: float
    long: dt.timedelta
    short: dt.timedelta
    severity: Severity


WINDOWS: Final = (
    BurnWindow(14.4, _HOUR, 5 * _MINUTE, Severity.PAGE),
    BurnWindow(6.0, 6 * _HOUR, 30 * _MINUTE, Severity.PAGE),
    BurnWindow(1.0, 72 * _HOUR, 6 * _HOUR, Severity.TICKET),
)


@dataclass(frozen=True, slots=True, kw_only=True)
class ServiceLevel:
    """A promise of the service."""

    name: str
    target: float
    """Share of good events."""
    fewest_bad: int
    """Bad events of the long window below which nothing is reported."""
    pages: bool = True
    """False: no burn rate pages, because a cause outside the service is the usual one."""
    windows: Sequence[BurnWindow] = WINDOWS
    """The most severe window first."""

    @property
    def budget(self) -> float:
        """The error budget."""
        return 1 - self.target


LENGTHS: Final = tuple(sorted({each for row in WINDOWS for each in (row.long, row.short)}))
FEWEST_BAD: Final = 10
_FEWEST_MINUTES: Final = 3

DELIVERED: Final = ServiceLevel(name="deliveries sent", target=0.999, fewest_bad=FEWEST_BAD)
"""Bad: deliveries that gave up or expired for a reason of the service or of a provider."""
REACHED: Final = ServiceLevel(
    name="notifications reached",
    target=0.999,
    fewest_bad=FEWEST_BAD,
    windows=(BurnWindow(1.0, 72 * _HOUR, 24 * _HOUR, Severity.TICKET),),
)
"""Bad: notifications that failed on all channels (`rules.reach`). Windows are times of acceptance,
and a notification can fail a day later, so a page would come too late: DELIVERED counts at the time
of the failure."""
URGENT_CALLED: Final = ServiceLevel(
    name="P0 called within 3 s", target=0.99, fewest_bad=_FEWEST_MINUTES
)
"""P0 waits for nothing but its provider, so the latency of each delivery counts."""
URGENT_DELIVERED: Final = ServiceLevel(
    name="P0 delivered within 3 s", target=0.99, fewest_bad=FEWEST_BAD, pages=False
)
"""From accept to the arrival that a receipt reports. The last part of the way is a carrier's or a
device's, so a low share pages nobody: `URGENT_CALLED` pages for the part of the service."""
URGENT_MS: Final = 3_000
PUNCTUAL: Final[Mapping[Priority, tuple[ServiceLevel, dt.timedelta]]] = {
    priority: (
        ServiceLevel(
            name=f"{priority.name} called within {limit.total_seconds():.0f} s",
            target=0.99,
            fewest_bad=_FEWEST_MINUTES,
            pages=priority is Priority.P1,
        ),
        limit,
    )
    for priority, limit in (
        (Priority.P1, dt.timedelta(seconds=10)),
        (Priority.P2, dt.timedelta(minutes=5)),
        (Priority.P3, dt.timedelta(minutes=5)),
    )
}
"""P1, P2 and P3 also wait for quiet hours and caps, so the minutes count in which a due delivery
waited longer than the limit for a worker. P2 and P3 page nobody: a large campaign waits for the
rate limit of its provider."""


def burning(level: ServiceLevel, windows: Mapping[dt.timedelta, EventShare]) -> BurnWindow | None:
    """Return the most severe window with a reached rate; None: the level is kept.

    Args:
        level: the service level.
        windows: good and bad events for the lengths of the level's windows.
    """
    for window in level.windows:
        long, short = windows[window.long], windows[window.short]
        limit = min(window.rate * level.budget, 1.0)
        if long.bad >= level.fewest_bad and long.share >= limit <= short.share and short.bad:
            return window
    return None


class BacklogPoint(NamedTuple):
    """The backlog of a priority in a minute."""

    at: dt.datetime
    depth: int
    """Due deliveries without a worker."""
    behind: dt.timedelta
    """Time since the oldest due time."""
    retrying: int = 0
    """Deliveries that wait for a retry."""


DEEP: Final = 10_000
"""Due deliveries of a priority."""
DEEP_MINUTES: Final = 5
_LEAST_DEPTH: Final = 1_000
"""Depth below which the deviation from the usual depth is ignored."""
LEAST_RETRYING: Final = 100
"""The same for deliveries that wait for a retry."""
_SIGMAS: Final = 3
_UNUSUAL_MINUTES: Final = 10
_FEWEST_POINTS: Final = 24 * 60
"""Minutes of history without which there is no usual depth: a day."""
_DRAINS: Final = 0.8
"""A depth under this share of the depth ten minutes ago drains."""
LATE: Final[Mapping[Priority, dt.timedelta]] = {
    Priority.P0: dt.timedelta(seconds=30),
    Priority.P1: dt.timedelta(seconds=60),
    Priority.P2: dt.timedelta(minutes=15),
    Priority.P3: dt.timedelta(minutes=15),
}
"""Waits of due deliveries after which the lanes of a priority are behind."""
_LATE_POINTS: Final = 2


def is_behind(priority: Priority, recent: Sequence[BacklogPoint]) -> bool:
    """Return True if the latest two minutes are late; `recent` has the oldest minute first."""
    latest = recent[-_LATE_POINTS:]
    return len(latest) == _LATE_POINTS and all(each.behind > LATE[priority] for each in latest)


def is_deep(recent: Sequence[BacklogPoint]) -> bool:
    """Return True if the depth was above DEEP in each of the latest five minutes."""
    latest = recent[-DEEP_MINUTES:]
    return len(latest) == DEEP_MINUTES and all(each.depth >= DEEP for each in latest)


class UsualDepth(NamedTuple):
    """The depth of a priority in the minutes of the last days, zeros included."""

    points: int
    mean: float
    deviation: float


def is_unusual(recent: Sequence[int], usual: UsualDepth, *, least: int = _LEAST_DEPTH) -> bool:
    """Return True if the depth is three standard deviations above the usual depth, and stays.

    Ten minutes must be unusual, and the last minute must not be well below the first: a release
    after quiet hours drains. Without a day of history nothing is unusual.

    Args:
        recent: the depth of each minute, the oldest first.
        usual: of the minutes before.
        least: the depth up to which nothing is unusual.
    """
    latest = recent[-_UNUSUAL_MINUTES:]
    if len(latest) < _UNUSUAL_MINUTES or usual.points < _FEWEST_POINTS:
        return False
    limit = max(least, math.ceil(usual.mean + _SIGMAS * usual.deviation))
    if any(each <= limit for each in latest):
        return False
    return latest[-1] >= _DRAINS * latest[0]


FEWEST_RETRIED: Final = 20
"""Ended deliveries with retries below which their success is ignored."""
FEWEST_PERMANENT: Final = 10
FEWEST_UNKNOWN: Final = 20
"""Deliveries that became unknown in an hour."""
FEWEST_CALLS: Final = 20
_BEYOND_P95: Final = 0.05
ROLLUPS_LATE: Final = dt.timedelta(minutes=5)
STUCK_AFTER: Final = dt.timedelta(minutes=15)
"""Longer than a sweep needs for a release of many deliveries."""
ORPHANED_AFTER: Final = dt.timedelta(minutes=2)
"""Forty runs of the sweep `rescue`."""


def is_retry_success_low(retried: EventShare, threshold: float) -> bool:
    """Return True if fewer deliveries with retries were sent than the threshold, in percent."""
    total = retried.good + retried.bad
    return total >= FEWEST_RETRIED and retried.good < threshold / 100 * total


def is_permanent_high(ended: EventShare, threshold: float) -> bool:
    """Return True if more deliveries were rejected for good than the threshold, in percent."""
    return ended.bad >= FEWEST_PERMANENT and ended.share > threshold / 100


def is_unknown_high(ended: EventShare, threshold: float) -> bool:
    """Return True if more deliveries of an hour became unknown than the threshold, in percent."""
    return ended.bad >= FEWEST_UNKNOWN and ended.share > threshold / 100


def is_processing_slow(calls: EventShare) -> bool:
    """Return True if the 95th percentile is above a threshold; `calls`: up to it, and longer."""
    return calls.good + calls.bad >= FEWEST_CALLS and calls.share > _BEYOND_P95
