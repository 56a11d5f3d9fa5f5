"""Conversion of wall clock times to instants, including skipped and repeated hours.

    a skipped wall time     the first instant after the gap
    a repeated wall time    the first of the two instants, or the last if the caller asks for `last`

Every wall time of a zone maps to an instant, and later wall times never map to earlier instants.
Python shifts skipped wall times, and compares two aware values of one zone by wall time; therefore
a wall time is naive in this module, and an instant is in UTC.

Only this module reads the tz database. A stored name can be unknown: a former name, or a name that
a newer database of another host has. Such a name counts as no name (`known`), so the documented
default applies: the producer's timezone, or UTC. Each door refuses unknown names (`is_zone`).
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
def names() -> frozenset[str]:
    """Return the names of the zones in the tz database."""
    return frozenset(zoneinfo.available_timezones()) - _NOWHERE


def names_beside(name: str) -> list[str]:
    """Return the names of the zones in the area of a name, such as Europe."""
    area = f"{name.partition('/')[0].casefold()}/"
    return [each for each in names() if each.casefold().startswith(area)]


def is_zone(name: str) -> bool:
    """Return True if the tz database has the zone; links such as Asia/Calcutta count."""
    return name in names()


@functools.lru_cache(maxsize=4096)
def zone_name(name: str) -> str:
    """Return the name of a zone of the tz database unchanged, and any other name as empty."""
    return name if is_zone(name) else ""


@functools.lru_cache(maxsize=4096)
def zone(name: str) -> dt.tzinfo:
    """Return the named zone; UTC for an empty or unknown name, or an unreadable file."""
    try:
        return zoneinfo.ZoneInfo(name) if is_zone(name) else dt.UTC
    except (zoneinfo.ZoneInfoNotFoundError, ValueError, OSError):
        return dt.UTC


def first(wall: dt.datetime, *, zone: dt.tzinfo) -> dt.datetime:
    """Return the first UTC instant at which clocks in `zone` show the naive `wall` or later."""
    return _resolve(wall.replace(tzinfo=zone, fold=0))


def last(wall: dt.datetime, *, zone: dt.tzinfo) -> dt.datetime:
    """Return the last instant with a wall time; as `first` for a skipped wall time."""
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
    """A send time: an instant, and the wall clock time, if given."""

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
        """Return the next instant with a time of day."""
        return cls.by_wall_clock(next_time(time, zone=zone(name), after=after), name)


def _resolve(local: dt.datetime) -> dt.datetime:
    instant = local.astimezone(dt.UTC)
    shown = instant.astimezone(local.tzinfo)
    if shown.replace(tzinfo=None) == local.replace(tzinfo=None):
        return instant
    return _end_of_gap(local)


def _end_of_gap(local: dt.datetime) -> dt.datetime:
    """Return the transition that skips a wall time, between the two offsets."""
    before, after = sorted(local.replace(fold=fold).astimezone(dt.UTC) for fold in (0, 1))
    offset = after.astimezone(local.tzinfo).utcoffset()
    while after - before > _SECOND:
        middle = before + (after - before) // _SECOND // 2 * _SECOND
        if middle.astimezone(local.tzinfo).utcoffset() == offset:
            after = middle
        else:
            before = middle
    return after
