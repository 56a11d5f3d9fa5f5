"""Wall clock times as instants; over the hours that a zone skips or repeats.

    a wall time that is skipped    the first instant after the gap
    a wall time that comes twice   the first of the two, or the last where a caller asks for that

Every wall time of every zone is one instant, and later ones never give earlier instants. Python
accepts both sorts and shifts the skipped ones, and compares two aware values of one zone by wall
time; so a wall time is naive here, and an instant is in UTC.
"""

from __future__ import annotations

import datetime as dt
import functools
import zoneinfo
from dataclasses import dataclass
from typing import Final, Self

_DAY: Final = dt.timedelta(days=1)
NO_ZONE: Final = "UTC"
"""Zone of recipients whose timezone is unknown."""
_SECOND: Final = dt.timedelta(seconds=1)
"""Transitions lie on whole seconds."""


_NOWHERE: Final = frozenset({"Factory", "localtime"})
"""Names in the database of no place: an unset clock, and this machine's zone."""


@functools.cache
def _names() -> frozenset[str]:
    return frozenset(zoneinfo.available_timezones()) - _NOWHERE


def is_zone(name: str) -> bool:
    """Whether the tz database has this zone; links such as Asia/Calcutta count."""
    return name in _names()


@functools.cache
def zone(name: str) -> dt.tzinfo:
    """Return the zone of this name; UTC for an empty or unknown one."""
    return zoneinfo.ZoneInfo(name) if is_zone(name) else dt.UTC


def first(wall: dt.datetime, *, zone: dt.tzinfo) -> dt.datetime:
    """Return the first UTC instant at which clocks in `zone` show the naive `wall` or later."""
    return _resolve(wall.replace(tzinfo=zone, fold=0))


def last(wall: dt.datetime, *, zone: dt.tzinfo) -> dt.datetime:
    """Return the last instant at which they show it; as `first` if it is skipped."""
    return _resolve(wall.replace(tzinfo=zone, fold=1))


def next_time(time: dt.time, *, zone: dt.tzinfo, after: dt.datetime) -> dt.datetime:
    """Return the naive wall time at which clocks in `zone` next show a time of day.

    Its first instant lies after `after`, by two days at most.
    """
    wall = dt.datetime.combine(after.astimezone(zone).date(), time)
    while first(wall, zone=zone) <= after:
        wall += _DAY
    return wall


@dataclass(frozen=True, slots=True)
class When:
    """A time to leave: an instant, and its wall clock time if it came from one."""

    at: dt.datetime
    local: str = ""
    """ISO 8601 without a zone."""
    zone: str = ""
    """Empty if unknown: then NO_ZONE counts."""

    @classmethod
    def by_wall_clock(cls, wall: dt.datetime, name: str) -> Self:
        """Return the first instant at which the clocks of this zone show `wall`."""
        return cls(first(wall, zone=zone(name)), wall.isoformat(timespec="minutes"), name)

    @classmethod
    def next_by_wall_clock(cls, time: dt.time, name: str, *, after: dt.datetime) -> Self:
        """Return the next instant at which they show this time of day."""
        return cls.by_wall_clock(next_time(time, zone=zone(name), after=after), name)


def _resolve(local: dt.datetime) -> dt.datetime:
    instant = local.astimezone(dt.UTC)
    shown = instant.astimezone(local.tzinfo)
    if shown.replace(tzinfo=None) == local.replace(tzinfo=None):
        return instant
    return _end_of_gap(local)


def _end_of_gap(local: dt.datetime) -> dt.datetime:
    """Return the transition that skips this wall time, between its two offsets."""
    before, after = sorted(local.replace(fold=fold).astimezone(dt.UTC) for fold in (0, 1))
    offset = after.astimezone(local.tzinfo).utcoffset()
    while after - before > _SECOND:
        middle = before + (after - before) // _SECOND // 2 * _SECOND
        if middle.astimezone(local.tzinfo).utcoffset() == offset:
            after = middle
        else:
            before = middle
    return after
