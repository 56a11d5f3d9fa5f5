"""Wall clock: the instant at which the clocks of a zone show a time.

A time that the clocks skip comes when they have skipped it; one that they show twice comes the
first time, never both.
"""

from __future__ import annotations

import datetime as dt
from dataclasses import dataclass
from typing import Self
from zoneinfo import ZoneInfo

_DAY = dt.timedelta(days=1)
_SECOND = dt.timedelta(seconds=1)


def instant_of(local: dt.datetime, zone: ZoneInfo) -> dt.datetime:
    """The instant, in UTC, of a local time that is written without a zone."""
    first = local.replace(tzinfo=zone, fold=0).astimezone(dt.UTC)
    if first.astimezone(zone).replace(tzinfo=None) == local:
        return first
    # A gap: with fold=1 the clock is read as after it, which gives an instant before it.
    before = local.replace(tzinfo=zone, fold=1).astimezone(dt.UTC)
    earlier = before.astimezone(zone).utcoffset()
    while first - before > _SECOND:
        middle = before + (first - before) // 2
        if middle.astimezone(zone).utcoffset() == earlier:
            before = middle
        else:
            first = middle
    return first.replace(microsecond=0)


def next_time(time: dt.time, zone: ZoneInfo, *, after: dt.datetime) -> dt.datetime:
    """When the clocks of a zone next show a time of day: that local date and time, without a zone.

    Args:
        time: of the day.
        zone: whose clocks.
        after: an instant; the answer's instant lies after it, at most two days.
    """
    today = after.astimezone(zone).date()
    local = dt.datetime.combine(today, time)
    while instant_of(local, zone) <= after:
        local += _DAY
    return local


@dataclass(frozen=True, slots=True)
class When:
    """A time to leave: an instant, and where it came from a recipient's wall clock, that too."""

    at: dt.datetime
    local: str = ""
    """ISO 8601 without a zone."""
    zone: str = ""

    @classmethod
    def by_wall_clock(cls, local: dt.datetime, zone: str) -> Self:
        """The instant at which the clocks of a zone show this; no zone is UTC."""
        at = instant_of(local, ZoneInfo(zone or "UTC"))
        return cls(at, local.isoformat(timespec="minutes"), zone)

    @classmethod
    def next_by_wall_clock(cls, time: dt.time, zone: str, *, after: dt.datetime) -> Self:
        """The next time that they show this time of day."""
        local = next_time(time, ZoneInfo(zone or "UTC"), after=after)
        return cls.by_wall_clock(local, zone)
