"""Messages of status webhooks: made from the change feed, claimed for calls, settled, deleted."""

from __future__ import annotations

import datetime as dt
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Final, NamedTuple
from uuid import UUID

from notifications.core.models import BulkJob, Contact, WebhookMessage
from notifications.core.rules import ids
from notifications.core.rules.bulk_job import Expansion
from notifications.core.rules.feed_position import FeedPosition
from notifications.core.rules.states import Status
from notifications.core.rules.webhook_events import TOLD, RetryPreset, StatusEvent
from notifications.core.store.postgres import bulk_job_expansions, change_feed, db, id_ranges

LEASE: Final = dt.timedelta(seconds=60)
"""Longer than the longest deadline with the wait for its start; a killed worker's messages are
called again after it."""


@dataclass(frozen=True, slots=True, kw_only=True)
class NotificationFacts:
    """The fields of a body from the rows of the notification and the delivery."""

    producer: str
    user_id: str = field(repr=False)
    metadata: dict[str, Any] = field(repr=False)
    traceparent: str
    channel: int | None
    provider: str | None


class ContactFacts(NamedTuple):
    """The fields of a body from the row of a contact; the address is not among them."""

    user_id: str
    channel: int
    reason: str


class BulkJobFacts(NamedTuple):
    """The fields of a body from the rows of a bulk job."""

    name: str
    metadata: dict[str, Any]
    expansion: Expansion


@dataclass(frozen=True, slots=True, kw_only=True)
class ClaimedMessage:
    """A message for a call, with the fields of the body."""

    id: UUID
    endpoint_id: int
    url: str = field(repr=False)
    is_of_request: bool
    """True for the `webhook_url` of a request."""
    preset: RetryPreset
    secret_version: int
    previous_secret_until: dt.datetime | None
    type: str
    notification_id: UUID | None
    delivery_id: UUID | None
    contact_id: int | None
    bulk_job_id: UUID | None
    status: int | None
    reason: str
    occurred_at: dt.datetime
    attempts: int
    calls: int
    facts: NotificationFacts | None = None
    """None for a test event, and after the notification was erased."""
    contact: ContactFacts | None = None
    """None unless the message is about a contact that exists."""
    bulk_job: BulkJobFacts | None = None
    """None unless the message is about a bulk job that exists."""

    @property
    def is_erased(self) -> bool:
        """True if the notification, the contact or the bulk job was erased since."""
        subjects = (
            (self.notification_id, self.facts),
            (self.contact_id, self.contact),
            (self.bulk_job_id, self.bulk_job),
        )
        return any(each is not None and facts is None for each, facts in subjects)


class CallResult(NamedTuple):
    """A settled call: the fields of webhook_settle, in order."""

    id: UUID
    endpoint_id: int
    state: str
    due_in: dt.timedelta | None
    """Wait before the next call; None: the message is final."""
    number: int
    started_at: dt.datetime
    latency_ms: int
    http_status: int | None
    error: str
    response: str


class EndpointHealth(NamedTuple):
    """The failed calls of an endpoint."""

    id: int
    failures: int
    failing_since: dt.datetime | None
    state: str


def fan_out(
    position: FeedPosition,
    end: FeedPosition,
    *,
    endpoint_id: int | None = None,
    again: bool = False,
) -> int:
    """Make the messages of the changes between two positions; returns the number of messages.

    Args:
        position: where the scan begins; earlier changes than its `since` are left out.
        end: where the scan ends, at most `change_feed.SCANNED` events later.
        endpoint_id: only the messages to this endpoint.
        again: existing messages are due again, and their retention begins anew.
    """
    return db.run(
        "webhook_fan_out",
        {
            "xid": position.xid,
            "seq": position.seq,
            "end_xid": end.xid,
            "end_seq": end.seq,
            "scanned": change_feed.SCANNED,
            "since": position.since,
            "statuses": [int(each.status) for each in TOLD],
            "reasons": [str(each.reason) for each in TOLD],
            "types": [each.event.value for each in TOLD],
            "endpoint": endpoint_id,
            "again": again,
        },
    )


def tell_bulk_job(job_id: UUID, event: StatusEvent, *, reason: str = "") -> None:
    """Make the messages of a change of a bulk job, in the transaction of the change.

    Args:
        job_id: the stored job.
        event: one of the events `bulk_job.*`.
        reason: the reason of the change for people, up to 300 characters.
    """
    db.run("webhook_bulk_job", {"job": job_id, "event": event.value, "reason": reason})


def claim(*, token: UUID, limit: int, share: int, failing: int) -> list[ClaimedMessage]:
    """Take due messages for calls.

    Args:
        token: names the claim; `settle` needs it.
        limit: the most messages.
        share: the most calls in flight at an endpoint.
        failing: the consecutive failures after which an endpoint has one call in flight.
    """
    found = db.fetch_in_own_transaction(
        "webhook_claim",
        {"token": token, "limit": limit, "share": share, "failing": failing, "lease": LEASE},
    )
    facts, contacts, jobs = _facts(found), _contacts(found), _bulk_jobs(found)
    return [
        ClaimedMessage(
            **{**row, "preset": RetryPreset(row["preset"])},
            facts=facts.get(row["id"]),
            contact=contacts.get(row["contact_id"]),
            bulk_job=jobs.get(row["bulk_job_id"]),
        )
        for row in found
    ]


def _contacts(claimed: Sequence[Mapping[str, Any]]) -> dict[int, ContactFacts]:
    """Return the facts of contacts by id."""
    wanted = {row["contact_id"] for row in claimed} - {None}
    if not wanted:
        return {}
    rows = Contact.objects.filter(id__in=wanted)
    columns = ("id", "recipient__user_id", "channel", "invalid_reason")
    return {each: ContactFacts(*others) for each, *others in rows.values_list(*columns)}


def _bulk_jobs(claimed: Sequence[Mapping[str, Any]]) -> dict[UUID, BulkJobFacts]:
    """Return the facts of bulk jobs by id."""
    wanted = {row["bulk_job_id"] for row in claimed} - {None}
    if not wanted:
        return {}
    expansions = bulk_job_expansions.expansions(list(wanted))
    rows = BulkJob.objects.filter(id__in=wanted).values_list("id", "name", "metadata")
    return {
        each: BulkJobFacts(name, metadata, expansions.get(each, Expansion()))
        for each, name, metadata in rows
    }


def _facts(claimed: Sequence[Mapping[str, Any]]) -> dict[UUID, NotificationFacts]:
    """Return the facts of claimed messages by message id, with a query for each day."""
    days: dict[dt.date, list[Mapping[str, Any]]] = {}
    for row in claimed:
        if row["notification_id"] is not None:
            days.setdefault(ids.day_of(row["notification_id"]), []).append(row)
    found: dict[UUID, NotificationFacts] = {}
    for rows in days.values():
        notification_ids = [row["notification_id"] for row in rows]
        asked = {
            "ids": [row["id"] for row in rows],
            "notification_ids": notification_ids,
            "delivery_ids": [row["delivery_id"] for row in rows],
            **id_ranges.around(notification_ids),
        }
        for row in db.rows("webhook_facts", asked):
            message_id = row.pop("id")
            found[message_id] = NotificationFacts(**row)
    return found


def settle(token: UUID, results: Sequence[CallResult]) -> None:
    """Store the results of calls of a claim."""
    names = (
        *("ids", "endpoint_ids", "states", "due_in", "numbers"),
        *("started_at", "latencies", "http_statuses", "errors", "responses"),
    )
    columns = dict(zip(names, map(list, zip(*results, strict=True)), strict=True))
    db.run("webhook_settle", {"token": token, **columns})


def count_health(seen: Sequence[tuple[int, int, bool]]) -> list[EndpointHealth]:
    """Count calls of endpoints: (id, failed calls, whether a call succeeded)."""
    ids, failed, succeeded = (list(column) for column in zip(*seen, strict=True))
    found = db.rows("webhook_health", {"ids": ids, "failed": failed, "succeeded": succeeded})
    return [EndpointHealth(**row) for row in found]


def status_of(message: ClaimedMessage | WebhookMessage) -> Status | None:
    """Return the status in a message; None for a test event."""
    return None if message.status is None else Status(message.status)
