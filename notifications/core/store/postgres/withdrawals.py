"""Withdrawals: rows with claim and end, and the events of the timeline.

The events have no status, so they are in the timeline and not in the change feed.
"""

from __future__ import annotations

import datetime as dt
from collections.abc import Collection, Sequence
from typing import Final, NamedTuple
from uuid import UUID

from django.db.models import F

from notifications.core.models import Delivery, Notification, Withdrawal
from notifications.core.rules import ids
from notifications.core.rules.reasons import Reason
from notifications.core.rules.withdrawals import SHOWN
from notifications.core.store.postgres import db
from providers.contract import Channel

LEASE: Final = dt.timedelta(seconds=60)
"""Longer than a page of calls takes; after a kill the withdrawal is tried again at its end."""
_LATER: Final = 100
"""Later notifications with the same collapse key that are examined."""


class Ending(NamedTuple):
    """The end of a withdrawal: `withdrawn`, or `not_withdrawn` with the cause."""

    delivery_id: UUID
    reason: Reason
    detail: str = ""


def add(delivery_ids: Sequence[UUID], *, ends_at: dt.datetime, now: dt.datetime) -> list[UUID]:
    """Insert withdrawals with an event each; returns the new rows. The caller has a transaction."""
    values = {"ids": list(delivery_ids), "now": now, "ends_at": ends_at}
    added = db.rows("withdrawals_add", {**values, "reason": Reason.WITHDRAWING})
    return [row["delivery_id"] for row in added]


def claim(*, now: dt.datetime, limit: int) -> list[Withdrawal]:
    """Take due withdrawals for a try; concurrent sweeps skip locked rows."""
    values = {"now": now, "limit": limit, "lease": LEASE}
    claimed = [row["delivery_id"] for row in db.rows("withdrawals_claim", values)]
    return list(Withdrawal.objects.filter(pk__in=claimed).order_by("pk"))


def end(endings: Sequence[Ending]) -> int:
    """Delete withdrawals and insert events; a missing withdrawal gets no event.

    Returns:
        The number of ended withdrawals.
    """
    if not endings:
        return 0
    columns = {
        "ids": [each.delivery_id for each in endings],
        "reasons": [each.reason for each in endings],
        "details": [each.detail[:500] for each in endings],
    }
    return len(db.fetch_in_own_transaction("withdrawals_end", columns))


def drop(delivery_ids: Collection[UUID]) -> None:
    """Delete withdrawals of deleted deliveries."""
    Withdrawal.objects.filter(pk__in=delivery_ids).delete()


def wait(delivery_id: UUID, *, until: dt.datetime, slot_at: dt.datetime | None = None) -> None:
    """Set the time of the next try."""
    Withdrawal.objects.filter(pk=delivery_id).update(due_at=until, slot_at=slot_at)


def retry(delivery_id: UUID, *, at: dt.datetime) -> None:
    """Count a failed call and set the time of the next try."""
    Withdrawal.objects.filter(pk=delivery_id).update(
        due_at=at, slot_at=None, failures=F("failures") + 1
    )


def replaced_contacts(
    *, notification_id: UUID, producer_id: int, recipient_id: int, collapse_key: str
) -> set[int]:
    """Return the contacts to which a later message with the same collapse key was sent.

    Such a message has replaced the earlier one on the device. `later` compares the times of
    acceptance; a message that was accepted earlier and scheduled for later does not count.
    """
    if not collapse_key:
        return set()
    later = Notification.objects.filter(
        recipient_id=recipient_id,
        id__gt=notification_id,
        producer_id=producer_id,
        collapse_key=collapse_key,
    ).order_by("-id")
    found: set[int] = set()
    for each in later.values_list("id", flat=True)[:_LATER]:
        sent = Delivery.objects.filter(
            pk__gt=each,
            pk__lte=ids.last_delivery_of(each),
            channel=Channel.PUSH,
            status__in=SHOWN,
            contact_id__isnull=False,
        )
        found.update(row for row in sent.values_list("contact_id", flat=True) if row is not None)
    return found
