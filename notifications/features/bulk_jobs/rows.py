"""Rows of a page of a bulk job: notifications, deliveries and first events, by COPY.

The rows of a page share most of their values, so the shared values are encoded once
(`copy_text.pattern`).
"""

from __future__ import annotations

import datetime as dt
from collections.abc import Mapping, Sequence
from typing import Any, Final, NamedTuple
from uuid import UUID

from notifications.core.rules import ids
from notifications.core.rules.reasons import Reason
from notifications.core.rules.states import Status
from notifications.core.store.postgres import copy_text, db, inserts
from notifications.core.store.postgres.copy_text import NULL, VARIES

_NOTIFICATION: Final = (*inserts.NOTIFICATION, "bulk_job_id", "variant", "template_variant")
_VARYING: Final = (
    *("id", "recipient_id", "user_id", "variables", "secrets"),
    *("scheduled_at", "expires_at"),
)
"""Columns of a notification that differ between the rows of a page."""


class SharedColumns(NamedTuple):
    """Common columns of the notifications of a variant; None for attachments alone."""

    producer_id: int
    mode: int
    priority: int
    type: str
    category: str
    retry_preset: str
    template: int
    metadata: str
    """JSON."""
    channels: list[int]
    spread: str
    bulk_job_id: UUID
    variant: str
    template_variant: str
    attachments: str | None
    """JSON, of the template; None without attachments."""


class NewMessage(NamedTuple):
    """A notification of a page, with deliveries."""

    id: UUID
    shared: SharedColumns
    recipient_id: int
    user_id: str
    variables: str
    """JSON."""
    secrets: bytes | None
    contacts: Sequence[tuple[int, int]]
    """Channel and contact id of each delivery."""
    due_at: dt.datetime
    places: Sequence[dt.datetime]
    """Due time of each delivery."""
    expires_at: dt.datetime


def with_message(job_id: UUID, recipients: Sequence[int], *, since: dt.datetime) -> frozenset[int]:
    """Return the recipients, of `recipients`, with a message of a job since an instant."""
    wanted = {"job": job_id, "recipients": list(recipients), "floor": ids.floor_at(since)}
    return frozenset(row["id"] for row in db.rows("bulk_job_recipients", wanted))


def take_addresses(job_id: UUID, contacts: Sequence[int]) -> frozenset[int]:
    """Take the addresses of contacts for a bulk job; return the contacts with a taken address.

    The first contact of an address takes the address, in the order of `contacts`. Called in the
    transaction of the page: an undone page gives the addresses back. Waits for a page that takes
    one of the addresses at the same time.

    Raises:
        OperationalError: another page has an address for longer than `lock_timeout`.
    """
    if not contacts:
        return frozenset()
    asked = {"job": job_id, "contacts": list(contacts)}
    return frozenset(row["id"] for row in db.rows("bulk_job_addresses_take", asked))


class ListedAddress(NamedTuple):
    """An address in the spelling of the suppression list."""

    channel: int
    address: str


def addresses_of(contacts: Sequence[int]) -> dict[int, ListedAddress]:
    """Return contact id -> address, for the existing contacts."""
    found = db.rows("bulk_job_addresses", {"contacts": list(contacts)})
    return {row["id"]: ListedAddress(row["channel"], row["address"]) for row in found}


def sharing(contacts: Sequence[int], *, before: int, each: int) -> dict[int, str]:
    """Return recipient id -> user id of recipients with the address of a contact.

    Args:
        contacts: the contacts.
        before: only recipients with a lower id.
        each: most recipients with an address.
    """
    asked = {"contacts": list(contacts), "before": before, "each": each}
    return {row["id"]: row["user_id"] for row in db.rows("bulk_job_addresses_shared", asked)}


def forget_addresses(
    *,
    before: dt.datetime,  # noqa: ARG001 - addresses go with the expansion, at any age
    limit: int,
) -> int:
    """Delete up to `limit` addresses of an expanded job; returns the number."""
    return db.run("bulk_job_addresses_forget", {"limit": limit})


def insert(messages: Sequence[NewMessage], *, now: dt.datetime) -> None:
    """Store the messages of a page in the caller's transaction, all or none.

    Args:
        messages: the messages, in the order of their ids.
        now: time of acceptance. A message that is due later gets the due time as send time.

    Raises:
        django.db.IntegrityError: the day has no partition (`partitions.with_day`).
        django.db.DataError: a value does not fit its column.
    """
    notifications: list[str] = []
    deliveries: list[str] = []
    events: list[str] = []
    patterns: dict[int, _Patterns] = {}
    for message in messages:
        found = patterns.get(id(message.shared))
        if found is None:
            found = patterns[id(message.shared)] = _patterns(message.shared, now)
        notification_id = message.id.hex
        due = copy_text.stamp(message.due_at) if message.due_at > now else NULL
        recipient = message.recipient_id
        notifications.append(
            found.notification
            % (
                notification_id,
                recipient,
                copy_text.text(message.user_id),
                copy_text.text(message.variables),
                NULL if message.secrets is None else copy_text.hexadecimal(message.secrets),
                due,
                copy_text.stamp(message.expires_at),
            )
        )
        for number, (channel, contact) in enumerate(message.contacts, start=1):
            delivery_id = ids.delivery_id(message.id, number).hex
            place = copy_text.stamp(message.places[number - 1])
            deliveries.append(found.delivery % (delivery_id, channel, place, recipient, contact))
            events.append(found.event % (notification_id, delivery_id))
    db.copy_lines("notification", _NOTIFICATION, notifications)
    db.copy_lines("delivery", inserts.DELIVERY, deliveries)
    db.copy_lines("event", inserts.EVENT, events)


class _Patterns(NamedTuple):
    """Lines of the three tables for a variant."""

    notification: str
    delivery: str
    event: str


def _patterns(shared: SharedColumns, now: dt.datetime) -> _Patterns:
    return _Patterns(
        copy_text.pattern(_record(_NOTIFICATION, _notification(shared, now))),
        copy_text.pattern(_record(inserts.DELIVERY, _delivery(shared))),
        copy_text.pattern((VARIES, VARIES, Status.QUEUED, Reason.ACCEPTED.value, now)),
    )


def _record(columns: Sequence[str], values: Mapping[str, Any]) -> list[Any]:
    return [values[name] for name in columns]


def _notification(shared: SharedColumns, now: dt.datetime) -> dict[str, Any]:
    return {
        **dict.fromkeys(("content", "inbox")),
        **dict.fromkeys(
            (
                *("collapse_key", "ordering_key", "webhook_url", "idempotency_key"),
                *("traceparent", "local_at", "local_zone"),
            ),
            "",
        ),
        "falls_back": False,
        "created_at": now,
        **dict.fromkeys(_VARYING, VARIES),
        **shared._asdict(),
    }


def _delivery(shared: SharedColumns) -> dict[str, Any]:
    return {
        "mode": shared.mode,
        "priority": shared.priority,
        "status": Status.QUEUED,
        "reason": "",
        "falls_back": False,
        "publishes": 0,
        "published_at": None,
        **dict.fromkeys(("id", "channel", "due_at", "recipient_id", "contact_id"), VARIES),
    }
