"""Waits of claimed deliveries for the end of quiet times (`rules.times.deferral`)."""

from __future__ import annotations

import datetime as dt
from collections.abc import Iterable
from typing import Final

from notifications.core import conf
from notifications.core.delivery.claimed import ClaimedDelivery
from notifications.core.rules.lane import Priority
from notifications.core.rules.reasons import Reason
from notifications.core.rules.times import deferral, quiet_hours
from notifications.core.rules.times.deferral import Deferral, ProducerDay, Wishes
from notifications.core.store.cached import producer_windows

_NO_WINDOWS: Final = "[]"
_ANY_DAY: Final = ProducerDay()
"""Send window of a recipient with a known timezone: all day."""


def with_quiet_times(deliveries: Iterable[ClaimedDelivery]) -> list[ClaimedDelivery]:
    """Return the deliveries that wait at some times of a day: few of a usual batch."""
    return [
        claimed
        for claimed in deliveries
        if claimed.destination.quiet_hours != _NO_WINDOWS
        or claimed.destination.do_not_disturb_until is not None
        or (not claimed.destination.timezone and claimed.delivery.priority is Priority.P3)
    ]


def wait(claimed: ClaimedDelivery, *, now: dt.datetime) -> tuple[dt.timedelta, Reason] | None:
    """Return the wait and the reason; the wait ends with the time to live at the latest."""
    found = deferral_of(claimed, now)
    if found is None:
        return None
    end = min(_release_time(claimed, found.until), claimed.notification.expires_at)
    return end - now, found.reason


def deferral_of(claimed: ClaimedDelivery, now: dt.datetime) -> Deferral | None:
    """Return the reason and the end of the quiet time at `now`; None outside of quiet times."""
    to = claimed.destination
    wishes = Wishes(
        channel=claimed.delivery.channel,
        timezone=to.timezone,
        windows=quiet_hours.parse_stored(to.quiet_hours),
        do_not_disturb_until=to.do_not_disturb_until,
    )
    day = _ANY_DAY if to.timezone else producer_windows.of(claimed.notification.producer_id)
    return deferral.deferral(wishes, priority=claimed.delivery.priority, day=day, now=now)


def _release_time(claimed: ClaimedDelivery, end: dt.datetime) -> dt.datetime:
    """Return a time on the release ramp after quiet hours.

    The ramp ends before the time to live and before the next quiet hours.
    """
    room = max(dt.timedelta(0), claimed.notification.expires_at - end)
    ramp = min(conf.current().release_ramp, room / 2)
    release = end + deferral.place_on(
        ramp, priority=claimed.delivery.priority, notification_id=claimed.notification.id
    )
    return end if deferral_of(claimed, release) else release
