"""Inserts of accept: notifications, deliveries and first events, in the caller's transaction."""

from __future__ import annotations

import datetime as dt
from collections.abc import Sequence
from typing import Final, NamedTuple
from uuid import UUID

from notifications.core.rules.lane import Lane
from notifications.core.rules.reasons import Reason
from notifications.core.rules.states import Status
from notifications.core.store.postgres import db, fair_queue
from notifications.core.store.postgres.fair_queue import Ask

NOTIFICATION: Final = (
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
    "inbox",
    "attachments",
    "collapse_key",
    "ordering_key",
    "webhook_url",
    "channels",
    "spread",
    "falls_back",
    "idempotency_key",
    "traceparent",
    "scheduled_at",
    "local_at",
    "local_zone",
    "expires_at",
    "created_at",
)
EVENT: Final = ("notification_id", "delivery_id", "status", "reason", "at")

NotificationRow = tuple[object, ...]
"""One value for each of the notification's columns, in their order."""


class NewDelivery(NamedTuple):
    """Column values of a new delivery, in insert order; `is_published` is two columns."""

    id: UUID
    mode: int
    priority: int
    channel: int
    status: int
    due_at: dt.datetime | None
    reason: str
    recipient_id: int
    contact_id: int | None
    falls_back: bool
    is_published: bool
    """The accepting process publishes the delivery at once."""


_DUE_AT: Final = NewDelivery._fields.index("due_at")
DELIVERY: Final = (*NewDelivery._fields[:-1], "publishes", "published_at")


def deliveries(
    born: Sequence[NewDelivery],
    *,
    notification_ids: Sequence[UUID],
    now: dt.datetime,
    notifications: Sequence[NotificationRow] = (),
    keys: db.Rows | None = None,
    patience: dt.timedelta | None = None,
) -> None:
    """Store deliveries with first events, and the given new rows, in one transaction.

    Args:
        born: the deliveries.
        notification_ids: notification ids, in the order of the deliveries.
        now: time of acceptance.
        notifications: new notifications.
        keys: new idempotency keys, inserted first, so that a taken key stops the insert.
        patience: as `db.insert`.

    Raises:
        django.db.IntegrityError: a key is taken, or the day has no partition
            (`partitions.with_day`).
    """
    places = _places(born, notification_ids, notifications, now=now)
    rows = [
        (
            *each[:_DUE_AT],
            places.get(each.id, each.due_at),
            *each[_DUE_AT + 1 : -1],
            int(each.is_published),
            now if each.is_published else None,
        )
        for each in born
    ]
    events = [
        (notification_id, each.id, each.status, each.reason or Reason.ACCEPTED.value, now)
        for each, notification_id in zip(born, notification_ids, strict=True)
    ]
    db.insert(
        *([keys] if keys else []),
        db.Rows("notification", NOTIFICATION, notifications),
        db.Rows("delivery", DELIVERY, rows),
        db.Rows("event", EVENT, events),
        patience=patience,
    )


def _places(
    born: Sequence[NewDelivery],
    notification_ids: Sequence[UUID],
    notifications: Sequence[NotificationRow],
    *,
    now: dt.datetime,
) -> dict[UUID, dt.datetime]:
    """Return the places of queued P2 and P3 deliveries in the fair queue."""
    producers = {row[0]: row[1] for row in notifications}
    asks = {
        each.id: Ask(Lane.of(each.mode, each.priority, each.channel), producer)
        for each, notification_id in zip(born, notification_ids, strict=True)
        if each.status == Status.QUEUED
        and not each.is_published
        and isinstance(producer := producers.get(notification_id), int)
    }
    return dict(zip(asks, fair_queue.places(list(asks.values()), now=now), strict=True))
