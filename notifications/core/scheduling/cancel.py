"""Cancel: stop the deliveries of a notification before the send.

A delivery claimed by a worker may still be sent, so its status stays and tells the result of the
call. Such a delivery gets no retry, because the first gate of the next claim reads `cancelled_at`.
The same gate stops a delivery that another transaction has locked during the cancellation.
An acceptance or a receipt that arrives after the cancellation moves a stopped delivery too: an
earlier call without an answer may have sent the message.
"""

from __future__ import annotations

from collections.abc import Sequence
from uuid import UUID

from notifications.core import clock
from notifications.core.models import Delivery, Notification
from notifications.core.rules.lane import Mode
from notifications.core.rules.reasons import Reason
from notifications.core.rules.states import OPEN, Status
from notifications.core.rules.transitions import CANCEL
from notifications.core.store.postgres import db, locked_rows, secret_variables, transitions
from notifications.core.store.postgres.transitions import ANYONE, Move
from notifications.core.store.rate_limits import frequency_caps


def cancel(notification_id: UUID, *, producer_id: int, mode: Mode) -> list[UUID] | None:
    """Stop a producer's notification. Safe to run twice.

    Returns:
        The stopped deliveries; None if the producer has no such notification.
    """
    mine = Notification.objects.filter(id=notification_id, producer_id=producer_id, mode=mode)
    return stop([notification_id]) if mine.exists() else None


def stop(notification_ids: Sequence[UUID]) -> list[UUID]:
    """Stop notifications; returns the stopped deliveries. Safe to run twice."""

    def work() -> list[UUID]:
        Notification.objects.filter(id__in=notification_ids, cancelled_at=None).update(
            cancelled_at=clock.now()
        )
        asked = {"ids": list(notification_ids), "waiting": sorted(OPEN - {Status.SENDING})}
        waiting = db.rows("waiting_of", asked)
        found, _ = locked_rows.leave_out(_cancel, [row["id"] for row in waiting])
        return found

    stopped = db.in_transaction(work)
    if stopped:
        secret_variables.wipe(notification_ids)
        frequency_caps.refund_unsent(Delivery.objects.filter(id__in=stopped))
    return stopped


def lock_free(notification_ids: Sequence[UUID]) -> list[UUID]:
    """Lock the notifications that no other transaction has locked; returns their ids."""
    rows = Notification.objects.filter(id__in=notification_ids).order_by("id")
    return list(rows.select_for_update(skip_locked=True).values_list("id", flat=True))


def _cancel(delivery_ids: Sequence[UUID]) -> list[UUID]:
    stops = [Move(id=each, reason=Reason.CANCELLED) for each in delivery_ids]
    return transitions.apply(CANCEL, stops, ANYONE)
