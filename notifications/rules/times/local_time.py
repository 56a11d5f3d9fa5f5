"""What a clock on a wall says, as an instant; over the hours that a zone skips or repeats.

    a wall time that is skipped    the first instant after the gap
    a wall time that comes twice   the first of the two, or the last where a caller asks for that

Promise: every wall time of every zone is one instant, and later ones never give earlier instants.
Python refuses neither sort of wall time and shifts the skipped ones, and between two aware values
of one zone it compares wall times; so a wall time is naive here, and an instant is in UTC.
A zone's rules are read from the tz database once a process.
"""

from __future__ import annotations

import datetime as dt
import functools
import zoneinfo
from dataclasses import dataclass
from typing import Final, Self

_DAY: Final = dt.timedelta(days=1)
NO_ZONE: Final = "UTC"
"""Whose clocks count for somebody whose timezone nobody knows."""
_SECOND: Final = dt.timedelta(seconds=1)
"""Transitions lie on whole seconds."""


_NOWHERE: Final = frozenset({"Factory", "localtime"})
"""Names in the database of no place: an unset clock, and wherever this machine stands."""


@functools.cache
def _names() -> frozenset[str]:
    return frozenset(zoneinfo.available_timezones()) - _NOWHERE


def is_zone(name: str) -> bool:
    """Whether the tz database knows a zone of this name; links such as Asia/Calcutta count."""
    return name in _names()


@functools.cache
def zone(name: str) -> dt.tzinfo:
    """The zone of this name; UTC for none, and for one that the database has dropped since."""
    return zoneinfo.ZoneInfo(name) if is_zone(name) else dt.UTC


def first(wall: dt.datetime, *, zone: dt.tzinfo) -> dt.datetime:
    """The first instant, in UTC, at which clocks in `zone` show the naive `wall` or later."""
    return _resolved(wall.replace(tzinfo=zone, fold=0))


def last(wall: dt.datetime, *, zone: dt.tzinfo) -> dt.datetime:
    """The last instant, in UTC, at which they show it; as `first` where it is skipped."""
    return _resolved(wall.replace(tzinfo=zone, fold=1))


def next_time(time: dt.time, *, zone: dt.tzinfo, after: dt.datetime) -> dt.datetime:
    """The naive wall time at which clocks in `zone` next show a time of day.

    Its first instant lies after `after`, by two days at most.
    """
    wall = dt.datetime.combine(after.astimezone(zone).date(), time)
    while first(wall, zone=zone) <= after:
        wall += _DAY
    return wall


@dataclass(frozen=True, slots=True)
class When:
    """A time to leave: an instant, and where it came from a recipient's wall clock, that too."""

    at: dt.datetime
    local: str = ""
    """ISO 8601 without a zone."""
    zone: str = ""
    """Empty where nobody knows theirs: then it is NO_ZONE's clock."""

    @classmethod
    def by_wall_clock(cls, wall: dt.datetime, name: str) -> Self:
        """The first instant at which the clocks of the zone of this name show this."""
        return cls(first(wall, zone=zone(name)), wall.isoformat(timespec="minutes"), name)

    @classmethod
    def next_by_wall_clock(cls, time: dt.time, name: str, *, after: dt.datetime) -> Self:
        """The next time that they show this time of day."""
        return cls.by_wall_clock(next_time(time, zone=zone(name), after=after), name)


def _resolved(local: dt.datetime) -> dt.datetime:
    instant = local.astimezone(dt.UTC)
    shown = instant.astimezone(local.tzinfo)
    if shown.replace(tzinfo=None) == local.replace(tzinfo=None):
        return instant
    return _end_of_gap(local)


def _end_of_gap(local: dt.datetime) -> dt.datetime:
    """The transition that skips this wall time: between what both of its offsets make of it."""
    before, after = sorted(local.replace(fold=fold).astimezone(dt.UTC) for fold in (0, 1))
    offset = after.astimezone(local.tzinfo).utcoffset()
    while after - before > _SECOND:
        middle = before + (after - before) // _SECOND // 2 * _SECOND
        if middle.astimezone(local.tzinfo).utcoffset() == offset:
            after = middle
        else:
            before = middle
    return after
