"""What accepting stores: notifications, deliveries and their first events.

All in the caller's transaction, beside the idempotency keys.
"""

from __future__ import annotations

import datetime as dt
from collections.abc import Sequence
from typing import Final, NamedTuple
from uuid import UUID

from notifications.store import db

_NOTIFICATION: Final = (
    "id",
    "producer_id",
    "mode",
    "priority",
    "type",
    "category",
    "retry_preset",
    "recipient_id",
    "user_id",
    "template",
    "content",
    "variables",
    "secrets",
    "metadata",
    "collapse_key",
    "ordering_key",
    "channels",
    "spread",
    "idempotency_key",
    "traceparent",
    "scheduled_at",
    "local_at",
    "local_zone",
    "expires_at",
    "created_at",
)
_DELIVERY: Final = (
    "id",
    "mode",
    "priority",
    "channel",
    "status",
    "due_at",
    "reason",
    "recipient_id",
    "contact_id",
    "publishes",
    "published_at",
)
_EVENT: Final = ("notification_id", "delivery_id", "status", "reason", "at")

NotificationRow = tuple[object, ...]
"""One value for each of the notification's columns, in their order."""


class NewDelivery(NamedTuple):
    """A delivery as it is born: its first columns, in their order."""

    id: UUID
    mode: int
    priority: int
    channel: int
    status: int
    due_at: dt.datetime | None
    reason: str
    recipient_id: int
    contact_id: int | None
    is_published: bool
    """The accepting process publishes it itself, at once."""


def deliveries(
    born: Sequence[NewDelivery],
    *,
    notification_ids: Sequence[UUID],
    now: dt.datetime,
    notifications: Sequence[NotificationRow] = (),
    keys: db.Rows | None = None,
    patience: dt.timedelta | None = None,
) -> None:
    """Store deliveries with the first event of each, and what is new with them; all or nothing.

    Args:
        born: the deliveries.
        notification_ids: of each of them, in order.
        now: when they were born.
        notifications: those that are new.
        keys: the idempotency keys that they were asked for with. They go first, so that nothing
            is written for a key that somebody else has taken.
        patience: as `db.insert`.

    Raises:
        django.db.IntegrityError: a key is taken, or the day has no partition (see
            `partitions.with_day`).
    """
    rows = [
        (*each[:-1], int(each.is_published), now if each.is_published else None) for each in born
    ]
    events = [
        (notification_id, each.id, each.status, each.reason or "accepted", now)
        for each, notification_id in zip(born, notification_ids, strict=True)
    ]
    db.insert(
        *([keys] if keys else []),
        db.Rows("notification", _NOTIFICATION, notifications),
        db.Rows("delivery", _DELIVERY, rows),
        db.Rows("event", _EVENT, events),
        patience=patience,
    )
