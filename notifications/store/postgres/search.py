"""Search for deliveries by address, user, id or provider's message id, each by an index.

Hits come newest first and hold no address.
"""

from __future__ import annotations

import datetime as dt
from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any
from uuid import UUID

from notifications.models import Contact, Delivery, Notification, Recipient
from notifications.rules import ids
from notifications.rules.lane import Mode, Priority
from notifications.rules.states import Status
from notifications.store.postgres import db
from providers.contract import Channel


@dataclass(frozen=True, slots=True, kw_only=True)
class Hit:
    """One found delivery."""

    notification_id: UUID
    delivery_id: UUID
    created_at: dt.datetime
    mode: Mode
    producer_id: int
    user_id: str
    type: str
    priority: Priority
    channel: Channel
    status: Status
    reason: str
    provider: str
    provider_message_id: str


def find(
    *,
    mode: Mode | None = None,
    limit: int = 50,
    address: str = "",
    user_id: str = "",
    provider_message_id: str = "",
    any_id: UUID | None = None,
) -> list[Hit]:
    """Find deliveries by exactly one term, newest first; `mode` None searches both modes.

    `address` has the stored spelling; `any_id` is the id of a notification (returns all deliveries)
    or of a delivery.
    """
    contacts = deliveries = None
    if any_id is not None:
        notifications = [ids.notification_of(any_id)]
        deliveries = [any_id] if ids.number_of(any_id) else None
    elif provider_message_id:
        known_as = Delivery.objects.filter(provider_message_id=provider_message_id)
        deliveries = list(known_as.order_by("-pk").values_list("pk", flat=True)[:limit])
        notifications = [ids.notification_of(each) for each in deliveries]
    elif user_id:
        recipients = Recipient.objects.filter(user_id=user_id).values_list("pk", flat=True)
        notifications = _of_recipients(recipients, limit=limit)
    else:
        pairs = list(Contact.objects.filter(address=address).values_list("pk", "recipient"))
        contacts = [contact for contact, _ in pairs]
        notifications = _of_recipients({recipient for _, recipient in pairs}, limit=limit)
    parameters = {
        "notifications": notifications,
        "mode": mode,
        "contacts": contacts,
        "deliveries": deliveries,
        "limit": limit,
    }
    return [_hit(row) for row in db.rows("search_hits", parameters)]


def find_any(term: str, *, limit: int = 200) -> list[Hit]:
    """Find deliveries by any term: an id, a user, an address, or a provider's message id."""
    term = term.strip()
    try:
        return find(any_id=UUID(term), limit=limit)
    except ValueError:
        pass
    if not term:
        return []
    return [
        *find(user_id=term, limit=limit),
        *find(address=term, limit=limit),
        *find(provider_message_id=term, limit=limit),
    ]


def _of_recipients(recipients: Iterable[int], *, limit: int) -> list[UUID]:
    """Return the newest notifications of recipients; served by `notification_by_recipient`."""
    theirs = Notification.objects.filter(recipient_id__in=list(recipients))
    return list(theirs.order_by("-pk").values_list("pk", flat=True)[:limit])


def _hit(row: dict[str, Any]) -> Hit:
    enums = {
        "mode": Mode(row["mode"]),
        "priority": Priority(row["priority"]),
        "channel": Channel(row["channel"]),
        "status": Status(row["status"]),
    }
    return Hit(**row | enums)
