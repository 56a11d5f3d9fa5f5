"""Timelines for API and admin: a notification's deliveries, attempts and events.

A notification's deliveries are one range of the primary key, so four range scans of one daily
partition read all rows. Sensitive variables are masked for every reader.

A page of `listing` reads at most SCANNED rows, so a page can have fewer lines than the limit and
still have a next page.
"""

from __future__ import annotations

import datetime as dt
from collections.abc import Container, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import groupby
from typing import Any, Final
from uuid import UUID

from notifications.core.models import Attempt, Delivery, Event, Notification, Template
from notifications.core.rules import ids
from notifications.core.rules.lane import Mode, Priority
from notifications.core.rules.sensitive import MASK
from notifications.core.rules.states import Status, overall
from notifications.core.rules.times.claims import Told, with_claims
from notifications.core.rules.times.stages import ReceivedReport, StageTime, stage_times
from notifications.core.store.postgres import db
from providers.contract import Channel

SCANNED: Final = 20_000
"""Upper bound of rows read for a page of a listing: about 20 ms."""


@dataclass(frozen=True, slots=True, kw_only=True)
class DeliveryView:
    """A delivery with attempts."""

    id: UUID
    channel: Channel
    status: Status
    reason: str
    provider: str
    provider_message_id: str
    due_at: dt.datetime | None
    sent_at: dt.datetime | None
    delivered_at: dt.datetime | None
    contact_id: int | None = None
    generation: int = 0
    attempts: tuple[Attempt, ...] = ()
    stages: tuple[StageTime, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class Timeline:
    """A notification with deliveries and events."""

    notification: Notification
    template: Template | None
    deliveries: tuple[DeliveryView, ...]
    events: tuple[Event, ...]
    """With an event `sending` for each claim, which is not stored: it has the number of the event
    beside it."""

    @property
    def status(self) -> Status:
        """The notification's own status."""
        return overall([delivery.status for delivery in self.deliveries])

    @property
    def variables(self) -> dict[str, Any]:
        """The variables; sensitive values are masked."""
        hidden = self.template.sensitive_variables if self.template else ()
        shown: dict[str, Any] = self.notification.variables
        return shown | dict.fromkeys(hidden, MASK)


def of(notification_id: UUID) -> Timeline | None:
    """Return a notification with deliveries and events; None for an unknown id."""
    notification = Notification.objects.filter(pk=notification_id).first()
    if notification is None:
        return None
    events = tuple(Event.objects.filter(notification_id=notification_id).order_by("seq"))
    last = ids.last_delivery_of(notification_id)
    rows = Delivery.objects.filter(pk__gt=notification_id, pk__lte=last).order_by("pk")
    return Timeline(
        notification=notification,
        template=Template.objects.filter(pk=notification.template or 0).first(),
        deliveries=_deliveries(notification, rows, events),
        events=(*with_claims(events, _told, _claim), *_present_claims(rows, events)),
    )


def _told(event: Event) -> Told:
    return Told(event.delivery_id, event.status, event.at, event.claimed_at)


def _claim(told: Told, beside: Event) -> Event:
    return Event(
        notification_id=beside.notification_id,
        seq=beside.seq,
        delivery_id=told.delivery_id,
        status=Status.SENDING,
        at=told.at,
    )


def _present_claims(rows: Iterable[Delivery], events: Sequence[Event]) -> Iterator[Event]:
    """Yield an event for each delivery that a worker is sending."""
    for row in rows:
        claimed_at = ids.time_of_claim(row.claim_token)
        if events and claimed_at is not None:
            yield _claim(Told(row.id, Status.SENDING, claimed_at, None), events[-1])


def _deliveries(
    notification: Notification, rows: Iterable[Delivery], events: Sequence[Event]
) -> tuple[DeliveryView, ...]:
    notification_id = notification.pk
    last = ids.last_delivery_of(notification_id)
    attempts = Attempt.objects.filter(delivery_id__gt=notification_id, delivery_id__lte=last)
    made = {
        delivery_id: tuple(rows)
        for delivery_id, rows in groupby(
            attempts.order_by("delivery_id", "number"), key=lambda row: row.delivery_id
        )
    }
    return tuple(
        DeliveryView(
            id=row.id,
            channel=Channel(row.channel),
            status=Status(row.status),
            reason=row.reason,
            provider=row.provider,
            provider_message_id=row.provider_message_id,
            due_at=row.due_at,
            sent_at=row.sent_at,
            delivered_at=row.delivered_at,
            contact_id=row.contact_id,
            generation=row.generation,
            attempts=made.get(row.id, ()),
            stages=_stages(row, notification, made.get(row.id, ()), events),
        )
        for row in rows
    )


def _stages(
    row: Delivery, notification: Notification, attempts: Sequence[Attempt], events: Sequence[Event]
) -> tuple[StageTime, ...]:
    mine = [each for each in events if each.delivery_id == row.id]
    return stage_times(
        accepted_at=notification.created_at,
        called_at=attempts[0].started_at if attempts else None,
        sent_at=row.sent_at,
        delivered=_first_report(mine, {Status.DELIVERED, Status.READ}),
        read=_first_report(mine, {Status.READ}),
    )


def _first_report(events: Sequence[Event], statuses: Container[Status]) -> ReceivedReport | None:
    found = (
        ReceivedReport(received_at=each.at, occurred_at=each.occurred_at)
        for each in events
        if each.status in statuses
    )
    return next(found, None)


@dataclass(frozen=True, slots=True, kw_only=True)
class ListingQuery:
    """Filter of a listing; None or empty means no filter."""

    mode: Mode
    since: dt.datetime
    producer_id: int | None = None
    recipient_id: int | None = None
    types: Sequence[str] = ()
    metadata: Mapping[str, str] = field(default_factory=dict)
    """Required metadata: name -> value as text."""
    statuses: Sequence[Status] = ()
    """Any delivery has any of the statuses."""


@dataclass(frozen=True, slots=True, kw_only=True)
class ListingRow:
    """One notification in a listing."""

    notification_id: UUID
    user_id: str
    type: str
    priority: Priority
    created_at: dt.datetime
    scheduled_at: dt.datetime | None
    deliveries: tuple[tuple[UUID, Channel, Status], ...] = field(default=())

    @property
    def status(self) -> Status:
        """The notification's own status."""
        return overall([status for _, _, status in self.deliveries])


def listing(
    wanted: ListingQuery, *, before: UUID | None = None, limit: int
) -> tuple[list[ListingRow], UUID | None]:
    """Return a page, newest first, and the cursor of the next page (None: last page)."""
    bounds = {
        "below": before or UUID(int=2**128 - 1),
        "floor": ids.floor_of(wanted.since.astimezone(dt.UTC).date()),
        "recipient": wanted.recipient_id,
        "scanned": SCANNED,
    }
    found = db.rows(
        "timeline_listing",
        bounds
        | {
            "since": wanted.since,
            "producer": wanted.producer_id,
            "mode": int(wanted.mode),
            "types": list(wanted.types) or None,
            "names": list(wanted.metadata),
            "values": list(wanted.metadata.values()),
            "statuses": [int(status) for status in wanted.statuses] or None,
            "limit": limit,
        },
    )
    lines = [_listing_row(row) for row in found]
    if len(lines) == limit:
        return lines, lines[-1].notification_id
    # Short of its limit: either everything was seen, or the scan ended before the days did.
    ended_at = db.rows("timeline_scan_end", bounds)
    return lines, ended_at[0]["id"] if ended_at else None


def _listing_row(row: dict[str, Any]) -> ListingRow:
    deliveries = zip(row["delivery_ids"], row["channels"], row["statuses"], strict=True)
    return ListingRow(
        notification_id=row["id"],
        user_id=row["user_id"],
        type=row["type"],
        priority=Priority(row["priority"]),
        created_at=row["created_at"],
        scheduled_at=row["scheduled_at"],
        deliveries=tuple(
            (id_, Channel(channel), Status(status)) for id_, channel, status in deliveries
        ),
    )
