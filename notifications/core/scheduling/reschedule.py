"""Reschedule: change the time of a scheduled notification.

A notification can be moved until its time; the time to live moves as well. Release and reschedule
take the same row lock, so the notification leaves either at the old time or at the new time.
"""

from __future__ import annotations

import datetime as dt
from uuid import UUID

from notifications.core import clock
from notifications.core.models import Notification
from notifications.core.rules.lane import Mode
from notifications.core.rules.problems import FieldError, Kind, Problem
from notifications.core.rules.request import MAX_TTL
from notifications.core.rules.states import Status
from notifications.core.rules.times.local_time import When
from notifications.core.store.postgres import db, reads

_LEFT = Problem(
    Kind.CONFLICT, "every delivery has left or ended; only scheduled deliveries can be rescheduled"
)
_ABSENT = Problem(Kind.NOT_FOUND, "unknown notification")


def reschedule(
    notification_id: UUID,
    *,
    producer_id: int,
    mode: Mode,
    scheduled_at: dt.datetime | None,
    send_at_local: dt.time | None,
) -> Problem | None:
    """Move a producer's notification to another time; returns a Problem on failure.

    Exactly one of the times is given. An instant in the past means now.
    """

    def work() -> Problem | None:
        mine = Notification.objects.select_for_update().filter(
            id=notification_id, producer_id=producer_id, mode=mode
        )
        row = mine.first()
        if row is None:
            return _ABSENT
        if send_at_local is None:
            when = When(scheduled_at or clock.now())
        else:
            zone = zone_of(row)
            when = When.next_by_wall_clock(send_at_local, zone, after=clock.now())
        if when.at + _time_to_live(row) - row.created_at > MAX_TTL:
            said = f"it may leave and expire within {MAX_TTL.days} days after it was accepted"
            field = "/scheduled_at" if send_at_local is None else "/send_at_local"
            return Problem(Kind.INVALID, said, (FieldError(field, said),))
        return None if postpone(row, when, detail="by its producer") else _LEFT

    return db.in_transaction(work)


def zone_of(row: Notification) -> str:
    """Return the recipient's current timezone; empty if unknown."""
    reach = reads.reaches_by_id([row.recipient_id]).get(row.recipient_id)
    return reach.timezone if reach else ""


def postpone(row: Notification, when: When, *, detail: str) -> bool:
    """Move a locked notification; returns False if no delivery is scheduled."""
    parameters = {"id": row.id, "at": when.at, "scheduled": Status.SCHEDULED, "detail": detail}
    if not db.rows("reschedule", parameters):
        return False
    row.expires_at = max(when.at, clock.now()) + _time_to_live(row)
    row.scheduled_at, row.local_at, row.local_zone = when.at, when.local, when.zone
    row.save(update_fields=["scheduled_at", "expires_at", "local_at", "local_zone"])
    return True


def _time_to_live(row: Notification) -> dt.timedelta:
    return row.expires_at - max(row.scheduled_at or row.created_at, row.created_at)
