"""Start times of a bulk job sent at a time on the recipient's wall clock."""

from __future__ import annotations

import datetime as dt
from collections import defaultdict
from collections.abc import Iterable
from typing import Final

from notifications.core.rules.times import local_time

_BEHIND_UTC: Final = dt.timedelta(hours=12)
"""The last clock of the world is behind UTC by this time."""


def starts(
    local: str, zones: Iterable[str], *, after: dt.datetime, unknown: str
) -> dict[dt.datetime, list[str]]:
    """Return start time -> timezones, earliest first.

    In a timezone with a passed time, the job starts at the same time of the next day. A skipped
    wall time starts at the end of the gap, a repeated wall time at the first instant.

    Args:
        local: `09:00`, or `2026-11-27T09:00`.
        zones: names of timezones; empty or unknown for recipients without a timezone.
        after: the earliest start.
        unknown: the timezone of recipients without a timezone.
    """
    found: dict[dt.datetime, list[str]] = defaultdict(list)
    for name in sorted(set(zones)):
        found[_next(local, local_time.zone_name(name) or unknown, after)].append(name)
    return {at: found[at] for at in sorted(found)}


def _next(local: str, name: str, after: dt.datetime) -> dt.datetime:
    zone = local_time.zone(name)
    if "T" not in local:
        wall = local_time.next_time(dt.time.fromisoformat(local), zone=zone, after=after)
        return local_time.first(wall, zone=zone)
    wall = dt.datetime.fromisoformat(local)
    if local_time.first(wall, zone=zone) > after:
        return local_time.first(wall, zone=zone)
    return _next(f"{wall:%H:%M}", name, after)


def has_passed(local: str, *, now: dt.datetime) -> bool:
    """Return True if a wall clock time with a date has passed in every timezone."""
    if "T" not in local:
        return False
    return dt.datetime.fromisoformat(local).replace(tzinfo=dt.UTC) + _BEHIND_UTC <= now
