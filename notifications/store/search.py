"""Search for deliveries by address, user, id or provider's message id, each by an index.

Hits come newest first and hold no address.
"""

from __future__ import annotations

import datetime as dt
from dataclasses import dataclass
from typing import Any
from uuid import UUID

from notifications.models import Contact, Delivery, Notification, Recipient
from notifications.rules import ids
from notifications.rules.lane import Mode, Priority
from notifications.rules.states import Status
from notifications.store import db
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

    `address` is spelled as the contact has it; `any_id` is of a notification (all its deliveries)
    or of a delivery.

    Raises:
        ValueError: not exactly one of the four terms was given.
    """
    match address, user_id, provider_message_id, any_id:
        case str(), "", "", None if address:
            contacts = list(Contact.objects.filter(address=address).values_list("pk", "recipient"))
            recipients = {recipient for _, recipient in contacts}
            return _hits(
                _of_recipients(recipients, limit=limit),
                mode=mode,
                limit=limit,
                contacts=[contact for contact, _ in contacts],
            )
        case "", str(), "", None if user_id:
            recipients = set(Recipient.objects.filter(user_id=user_id).values_list("pk", flat=True))
            return _hits(_of_recipients(recipients, limit=limit), mode=mode, limit=limit)
        case "", "", str(), None if provider_message_id:
            known_as = Delivery.objects.filter(provider_message_id=provider_message_id)
            newest = list(known_as.order_by("-pk").values_list("pk", flat=True)[:limit])
            return _hits(
                [ids.notification_of(id_) for id_ in newest],
                mode=mode,
                limit=limit,
                deliveries=newest,
            )
        case "", "", "", UUID():
            only = [any_id] if ids.number_of(any_id) else None
            return _hits([ids.notification_of(any_id)], mode=mode, limit=limit, deliveries=only)
        case _:
            msg = "search by exactly one of address, user_id, provider_message_id and id"
            raise ValueError(msg)


def _of_recipients(recipients: set[int], *, limit: int) -> list[UUID]:
    """Return their newest notifications, by `notification_by_recipient`."""
    theirs = Notification.objects.filter(recipient_id__in=recipients)
    return list(theirs.order_by("-pk").values_list("pk", flat=True)[:limit])


def _hits(
    notifications: list[UUID],
    *,
    mode: Mode | None,
    limit: int,
    contacts: list[int] | None = None,
    deliveries: list[UUID] | None = None,
) -> list[Hit]:
    found = db.rows(
        "search_hits",
        {
            "notifications": notifications,
            "mode": mode,
            "contacts": contacts,
            "deliveries": deliveries,
            "limit": limit,
        },
    )
    return [_hit(row) for row in found]


def _hit(row: dict[str, Any]) -> Hit:
    enums = {
        "mode": Mode(row["mode"]),
        "priority": Priority(row["priority"]),
        "channel": Channel(row["channel"]),
        "status": Status(row["status"]),
    }
    return Hit(**row | enums)
