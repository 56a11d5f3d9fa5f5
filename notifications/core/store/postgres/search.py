"""Search for deliveries by address, user, id, provider's message id or key, each by an index.

Hits come newest first and hold no address.
"""

from __future__ import annotations

import datetime as dt
import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Any, Final
from uuid import UUID

from notifications.core.models import Notification, Producer, Recipient
from notifications.core.rules import ids
from notifications.core.rules.lane import Mode, Priority
from notifications.core.rules.states import Status
from notifications.core.store.postgres import contacts_by_address, db, idempotency
from notifications.core.store.postgres.idempotency import IdempotencyKey
from providers.contract import Channel

_MOST_PRODUCERS: Final = 1_000
"""Producers whose idempotency keys are searched."""
_FIRST_DIGITS: Final = re.compile(r"(?i)[0-9a-f]{8}(-?[0-9a-f]){0,24}-?")
"""Eight digits are a time span of 65 seconds."""


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
    """Find deliveries by a single term, newest first; `mode` None searches live and test mode.

    `address` has any spelling; `any_id` is the id of a notification (returns all deliveries)
    or of a delivery.
    """
    contacts = deliveries = None
    if any_id is not None:
        notifications = [ids.notification_of(any_id)]
        deliveries = [any_id] if ids.number_of(any_id) else None
    elif provider_message_id:
        known = {"message_id": provider_message_id, "limit": limit}
        deliveries = [row["id"] for row in db.rows("search_message_id", known)]
        notifications = [ids.notification_of(each) for each in deliveries]
    elif user_id:
        recipients = Recipient.objects.filter(user_id=user_id).values_list("pk", flat=True)
        notifications = _of_recipients(recipients, limit=limit)
    else:
        pairs = list(contacts_by_address.of_term(address).values_list("pk", "recipient"))
        contacts = [contact for contact, _ in pairs]
        notifications = _of_recipients({recipient for _, recipient in pairs}, limit=limit)
    if not notifications:
        return []
    parameters = {
        "notifications": notifications,
        "mode": mode,
        "contacts": contacts,
        "deliveries": deliveries,
        "limit": limit,
    }
    return [_hit(row) for row in db.rows("search_hits", parameters)]


def find_any(term: str, *, limit: int = 200) -> list[Hit]:
    """Find deliveries by any term, newest first.

    Terms: a user, an address, a provider's message id, an idempotency key (as long as keys are
    kept), or an id or the first digits of an id of a notification or delivery.
    """
    term = term.strip()
    if not term:
        return []
    try:
        return find(any_id=UUID(term), limit=limit)
    except ValueError:
        pass
    hits = [
        *find(user_id=term, limit=limit),
        *find(address=term, limit=limit),
        *find(provider_message_id=term, limit=limit),
        *_hits_of(_by_idempotency_key(term), limit=limit),
        *_hits_of(_by_first_digits(term, limit=limit), limit=limit),
    ]
    once = {hit.delivery_id: hit for hit in hits}
    return sorted(once.values(), key=lambda hit: hit.delivery_id, reverse=True)[:limit]


def _by_idempotency_key(name: str) -> list[UUID]:
    """Return the notifications of a key, of any producer; served by the primary key of the keys."""
    producers = Producer.objects.values_list("pk", flat=True)[:_MOST_PRODUCERS]
    keys = {IdempotencyKey(producer, mode, name) for producer in producers for mode in Mode}
    if not keys:
        return []
    [found] = db.fetch_all([idempotency.first_answers(keys)])
    answers = (each.response for each in found if isinstance(each.response, dict))
    return [UUID(answer["notification_id"]) for answer in answers if "notification_id" in answer]


def _by_first_digits(digits: str, *, limit: int) -> list[UUID]:
    """Return the newest notifications by the first digits of the id; a primary key range."""
    if not _FIRST_DIGITS.fullmatch(digits):
        return []
    plain = digits.replace("-", "").lower()
    low, high = UUID(plain.ljust(32, "0")), UUID(plain.ljust(32, "f"))
    found = Notification.objects.filter(pk__gte=low, pk__lte=high).order_by("-pk")
    return list(found.values_list("pk", flat=True)[:limit])


def _hits_of(notifications: Sequence[UUID], *, limit: int) -> list[Hit]:
    if not notifications:
        return []
    parameters = {
        "notifications": list(notifications),
        "mode": None,
        "contacts": None,
        "deliveries": None,
        "limit": limit,
    }
    return [_hit(row) for row in db.rows("search_hits", parameters)]


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
