"""Cancel: stop what has not left.

What a worker holds at this moment may still leave; it gets no retry, because the first gate of its
next claim reads `cancelled_at`.
"""

from __future__ import annotations

from uuid import UUID

from notifications import clock
from notifications.models import Delivery, Notification
from notifications.pipeline import cap
from notifications.rules import ids
from notifications.rules.lane import Mode
from notifications.rules.states import OPEN, Status
from notifications.store import db, moves, vault
from notifications.store.moves import Move


def cancel(notification_id: UUID, *, producer_id: int, mode: Mode) -> list[UUID] | None:
    """Stop a producer's notification.

    Returns the deliveries that were stopped, None when it is not theirs.

    Safe to run twice: the second stops nothing.
    """
    mine = Notification.objects.filter(id=notification_id, producer_id=producer_id, mode=mode)

    def work() -> list[UUID] | None:
        if not mine.exists():
            return None
        mine.filter(cancelled_at=None).update(cancelled_at=clock.now())
        waiting = Delivery.objects.filter(
            id__gt=notification_id,
            id__lte=ids.last_delivery_of(notification_id),
            status__in=OPEN - {Status.SENDING},
        ).values_list("id", flat=True)
        stops = [Move(id=each, reason="cancelled") for each in waiting]
        return moves.move(Status.CANCELLED, stops)

    stopped = db.in_transaction(work)
    if stopped:
        vault.wipe([notification_id])
        cap.refund(Delivery.objects.filter(id__in=stopped), moved=stopped)
    return stopped
