"""Quiet: when a claimed delivery may reach its person, by their wishes as they are now."""

from __future__ import annotations

import datetime as dt
from typing import Final

from notifications import conf
from notifications.pipeline.job import Job
from notifications.rules.lane import Priority
from notifications.rules.reasons import Reason
from notifications.rules.times import deferral, quiet_hours
from notifications.rules.times.deferral import Deferral, ProducerDay, Wishes
from notifications.store import producer_days

_NO_WINDOWS: Final = "[]"
_ANY_DAY: Final = ProducerDay()
"""For people whose own clock counts."""


def wait_of(job: Job, *, now: dt.datetime) -> tuple[dt.timedelta, Reason] | None:
    """How long a delivery is held, and why; None: it need not wait.

    At most until its time to live ends, so that its producer hears of that when it is so.
    """
    found = _deferral(job, now)
    if found is None:
        return None
    return min(_release(job, found.until), job.asked.expires_at) - now, found.reason


def reason_at(job: Job, moment: dt.datetime) -> Reason | None:
    """What kept a delivery waiting at a moment, if anything did."""
    found = _deferral(job, moment)
    return found.reason if found else None


def _deferral(job: Job, now: dt.datetime) -> Deferral | None:
    to, priority = job.destination, job.delivery.priority
    has_wishes = to.quiet_hours != _NO_WINDOWS or to.do_not_disturb_until is not None
    is_lost = not to.timezone and priority is Priority.P3
    if priority is Priority.P0 or not (has_wishes or is_lost):
        return None
    wishes = Wishes(
        channel=job.delivery.channel,
        timezone=to.timezone,
        windows=quiet_hours.read(to.quiet_hours),
        do_not_disturb_until=to.do_not_disturb_until,
    )
    day = _ANY_DAY if to.timezone else producer_days.of(job.asked.producer_id)
    return deferral.deferral(wishes, priority=priority, day=day, now=now)


def _release(job: Job, end: dt.datetime) -> dt.datetime:
    """The delivery's place on the ramp behind the end of the quiet.

    A ramp never outlasts the time to live, nor reaches into the next quiet hours.
    """
    room = max(dt.timedelta(0), job.asked.expires_at - end)
    ramp = min(conf.current().release_ramp, room / 2)
    release = end + deferral.place_on(
        ramp, priority=job.delivery.priority, notification_id=job.asked.id
    )
    return end if _deferral(job, release) else release
