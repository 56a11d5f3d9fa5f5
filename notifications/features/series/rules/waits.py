"""The end of a wait, in the timezone of the recipient.

The duration counts from the arrival at the step. `until_local` follows: the first instant at or
after the duration at which the clock of the recipient shows the time, on a permitted weekday. A
time that a change of the clock skips is the first instant after the gap; a repeated time is the
first of both instants.
"""

from __future__ import annotations

import datetime as dt
from typing import Final

from notifications.core.rules.times import local_time
from notifications.core.rules.times.quiet_hours import Weekday
from notifications.features.series.rules.definition import WaitStep

_DAY: Final = dt.timedelta(days=1)
_INSTANT: Final = dt.timedelta(microseconds=1)
_WEEK: Final = tuple(Weekday)


def end_of(step: WaitStep, *, arrived_at: dt.datetime, timezone: str) -> dt.datetime:
    """Return the instant at which a wait ends, in UTC.

    Args:
        step: the wait.
        arrived_at: the arrival at the step.
        timezone: of the recipient; empty: UTC.
    """
    earliest = arrived_at + step.duration
    if step.until_local is None:
        return earliest
    zone = local_time.zone(timezone)
    wall = local_time.next_time(
        dt.time.fromisoformat(step.until_local), zone=zone, after=earliest - _INSTANT
    )
    while step.weekdays and _WEEK[wall.weekday()] not in step.weekdays:
        wall += _DAY
    return local_time.first(wall, zone=zone)
