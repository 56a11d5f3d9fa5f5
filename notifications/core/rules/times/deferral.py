"""Deferral: whether a message waits for its recipient, why, and until when.

    do not disturb     until an instant that the recipient chose
    quiet hours        until their window ends, by the recipient's clock
    producer's night   P3 to a recipient of unknown timezone goes by the producer's clock

P0 never waits. A waiting message is never dropped, but the time to live may end; the message is
checked again when it comes due. Many messages wait for the same instant, so P2 and P3 are spread
over a ramp after the instant, by id.
"""

from __future__ import annotations

import datetime as dt
import functools
from dataclasses import dataclass
from typing import Final
from uuid import UUID

from notifications.core.rules import ids
from notifications.core.rules.lane import Priority
from notifications.core.rules.reasons import Reason
from notifications.core.rules.times import quiet_hours
from notifications.core.rules.times.quiet_hours import Window, Windows
from providers.contract import Channel

_PLACES: Final = 2**16
"""Places on a ramp: finer than any step."""
_SLACK: Final = dt.timedelta(seconds=1)
_STEP: Final = dt.timedelta(seconds=5)
"""Releases share whole steps, so that those of one claim are few groups."""


@dataclass(frozen=True, slots=True, kw_only=True)
class ProducerDay:
    """The time of day of a producer's marketing to recipients of unknown timezone."""

    timezone: str = "UTC"
    begins: dt.time = dt.time(8)
    ends: dt.time = dt.time(20)
    """Equal to `begins`: around the clock."""

    @property
    def nights(self) -> Windows:
        """Return the rest of each day as quiet hours."""
        return _nights(self.begins, self.ends)


@functools.lru_cache(maxsize=256)
def _nights(day_begins: dt.time, day_ends: dt.time) -> Windows:
    return () if day_begins == day_ends else (Window(start=day_ends, end=day_begins),)


@dataclass(frozen=True, slots=True, kw_only=True)
class Wishes:
    """A recipient's quiet times on a channel."""

    channel: Channel
    timezone: str
    """Empty: unknown."""
    windows: Windows = ()
    do_not_disturb_until: dt.datetime | None = None


@dataclass(frozen=True, slots=True)
class Deferral:
    """A message has to wait."""

    until: dt.datetime
    reason: Reason


def deferral(
    wishes: Wishes, *, priority: Priority, day: ProducerDay, now: dt.datetime
) -> Deferral | None:
    """Return the reason and the end of a message's wait; None: no wait.

    `day`, the producer's send window, counts only if the recipient's timezone is unknown.
    """
    if priority is Priority.P0:
        return None
    zone = wishes.timezone or day.timezone
    by_night = day.nights if priority is Priority.P3 and not wishes.timezone else ()

    def end_of(windows: Windows, begin: dt.datetime) -> dt.datetime | None:
        return quiet_hours.quiet_until(windows, channel=wishes.channel, zone=zone, now=begin)

    undisturbed = max(wishes.do_not_disturb_until or now, now)
    end = end_of((*wishes.windows, *by_night), undisturbed) or undisturbed
    if end == now:
        return None
    if undisturbed > now:
        return Deferral(end, Reason.DO_NOT_DISTURB)
    is_theirs = end_of(wishes.windows, now) is not None
    return Deferral(end, Reason.QUIET_HOURS if is_theirs else Reason.PRODUCERS_NIGHT)


def place_on(ramp: dt.timedelta, *, priority: Priority, notification_id: UUID) -> dt.timedelta:
    """Return a message's place on the ramp, which is the same each time."""
    if priority.is_urgent:
        return dt.timedelta(0)
    place = (notification_id.int >> ids.CHILD_BITS) % _PLACES
    return ramp * place / _PLACES // _STEP * _STEP


def is_over(
    wishes: Wishes,
    *,
    priority: Priority,
    day: ProducerDay,
    due_at: dt.datetime,
    ramp: dt.timedelta,
    now: dt.datetime,
) -> bool:
    """Return True if a hold until `due_at` ends later than the wishes ask for now.

    A place on the `ramp` behind the end counts as the end.
    """
    found = deferral(wishes, priority=priority, day=day, now=now)
    spread = dt.timedelta(0) if priority.is_urgent else ramp
    return found is None or found.until + spread + _SLACK < due_at
