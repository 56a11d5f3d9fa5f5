"""Inserts of accept: notifications, deliveries and first events, in the caller's transaction."""

from __future__ import annotations

import datetime as dt
import functools
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
    """Column values of a new delivery, in insert order, and two fields that are no column."""

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
    """The accepting process publishes the delivery at once; stored as two columns."""
    producer_id: int | None = None
    """The producer of a new notification: a queued P2 or P3 gets its place in the fair queue. None:
    `due_at` stays."""


_ACCEPTED: Final = Reason.ACCEPTED.value
_DUE_AT: Final = NewDelivery._fields.index("due_at")
_IS_PUBLISHED: Final = NewDelivery._fields.index("is_published")
DELIVERY: Final = (*NewDelivery._fields[:_IS_PUBLISHED], "publishes", "published_at")


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
    rows = [
        (
            *each[:_DUE_AT],
            due_at,
            *each[_DUE_AT + 1 : _IS_PUBLISHED],
            int(each.is_published),
            now if each.is_published else None,
        )
        for each, due_at in zip(born, _due_times(born, now=now), strict=True)
    ]
    events = [
        (notification_id, each.id, each.status, each.reason or _ACCEPTED, now)
        for each, notification_id in zip(born, notification_ids, strict=True)
    ]
    db.insert(
        *([keys] if keys else []),
        db.Rows("notification", NOTIFICATION, notifications),
        db.Rows("delivery", DELIVERY, rows),
        db.Rows("event", EVENT, events),
        patience=patience,
    )


def _due_times(born: Sequence[NewDelivery], *, now: dt.datetime) -> list[dt.datetime | None]:
    """Return the `due_at` of each delivery."""
    due_times = [each.due_at for each in born]
    asks = {
        number: _ask(each.mode, each.priority, each.channel, each.producer_id)
        for number, each in enumerate(born)
        if each.producer_id is not None and each.status == Status.QUEUED and not each.is_published
    }
    places = fair_queue.places(list(asks.values()), now=now)
    for number, place in zip(asks, places, strict=True):
        due_times[number] = place
    return due_times


@functools.lru_cache(maxsize=1024)
def _ask(mode: int, priority: int, channel: int, producer_id: int) -> Ask:
    """Return the same object for each row of a list: `fair_queue.places` compares neighbours."""
    return Ask(Lane.of(mode, priority, channel), producer_id)
