"""One person, as support asks: what came, what waits and why, and where they are reached.

    clock      what time it is where they are, and who says so
    contacts   each address, without the address: valid, invalid or suppressed, why, since when
    lately     their latest notifications, each delivery with its reason, in their own time

The promise: four queries, by index, however many messages the person has had.
"""

from __future__ import annotations

import datetime as dt
import functools
import json
import operator
from collections import defaultdict
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Final
from uuid import UUID

from django.db.models import Func, Q, TextField

from notifications import clock
from notifications.admin import base
from notifications.models import Contact, Delivery, Notification, Preference, Recipient, Suppression
from notifications.rules import ids, reasons
from notifications.rules.lane import Mode, Priority
from notifications.rules.states import Status
from notifications.rules.times import deferral, local_time, quiet_hours
from notifications.rules.times.deferral import Deferral, ProducerDay, Wishes
from notifications.store.postgres.timelines import DeliveryView
from providers.contract import Channel

LATELY: Final = 20
"""Notifications on the page: a caller asks about this week; the list has the rest."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Clock:
    """The clock on the person's wall."""

    zone_name: str
    """Empty: nobody knows it, and UTC is shown."""
    source: str
    """Who says so."""

    @property
    def zone(self) -> dt.tzinfo:
        """To show times in."""
        return local_time.zone(self.zone_name)


@dataclass(frozen=True, slots=True, kw_only=True)
class Reached:
    """One contact, and what keeps messages from it."""

    contact: Contact
    suppressions: Sequence[Suppression]
    is_off: bool
    """The person switched the channel off."""
    wait: Deferral | None
    """Until when a P2 that comes now would wait, and why."""

    @property
    def reason(self) -> str:
        """Why a P2 that comes now would wait."""
        return self.wait.reason.sentence if self.wait else ""


@dataclass(frozen=True, slots=True, kw_only=True)
class Effort:
    """One delivery, in words."""

    delivery: Delivery | DeliveryView
    status: Status
    colour: str
    reason: str
    ends: bool
    """It waits until its time to live ends: nothing will be sent."""

    @property
    def waits_until(self) -> dt.datetime | None:
        """Its due time, where that is the end of a wait."""
        return self.delivery.due_at if self.status is Status.SCHEDULED else None


@dataclass(frozen=True, slots=True, kw_only=True)
class Line:
    """One notification of theirs."""

    notification: Notification
    efforts: Sequence[Effort]


def context(person: Recipient, *, may_view: Callable[[str], bool]) -> dict[str, Any]:
    """What the card on the recipient's page shows.

    Args:
        person: the recipient.
        may_view: whether the operator may view a model; what they may not is None.
    """
    where, now = clock_of(person), clock.now()
    sees_contacts = may_view("contact")
    sees_messages = may_view("notification") and may_view("delivery")
    listed = may_view("suppression")
    return {
        "clock": where,
        "now": now,
        "contacts": list(_contacts(person, where, now, listed=listed)) if sees_contacts else None,
        "sees_suppressions": listed,
        "lately": _lately(person) if sees_messages else None,
        "latest": LATELY,
    }


def clock_of(person: Recipient) -> Clock:
    """Where the person is, as far as anybody knows."""
    source = "their profile" if person.timezone else "their phone number"
    return Clock(zone_name=person.timezone or person.phone_timezone, source=source)


def effort(delivery: Delivery | DeliveryView, *, expires_at: dt.datetime) -> Effort:
    """A delivery in words."""
    status = Status(delivery.status)
    return Effort(
        delivery=delivery,
        status=status,
        colour=base.colour_of(status),
        reason=reasons.sentence(delivery.reason),
        ends=status is Status.SCHEDULED
        and delivery.due_at is not None
        and delivery.due_at >= expires_at,
    )


def _contacts(
    person: Recipient, where: Clock, now: dt.datetime, *, listed: bool
) -> Iterator[Reached]:
    spelled = Func("channel", "address", function="suppressible", output_field=TextField())
    found = list(person.contacts.annotate(spelled=spelled).order_by("channel", "-is_primary", "pk"))
    rows = _listed(person, [contact.spelled for contact in found]) if listed else {}
    wishes = Preference.objects.filter(pk=person.pk).first() or Preference()
    for contact in found:
        channel = Channel(contact.channel)
        yield Reached(
            contact=contact,
            suppressions=rows.get((channel, contact.spelled), ()),
            is_off=channel in wishes.channels_off,
            wait=_wait(wishes, channel, where, now),
        )


def _listed(
    person: Recipient, addresses: Sequence[str]
) -> Mapping[tuple[int, str], Sequence[Suppression]]:
    """What is in force on the suppression list, by channel and address; it is for live mode."""
    listed: dict[tuple[int, str], list[Suppression]] = defaultdict(list)
    if person.mode == Mode.LIVE:
        for row in Suppression.objects.filter(address__in=addresses, undone_at=None):
            listed[row.channel, row.address].append(row)
    return listed


def _wait(wishes: Preference, channel: Channel, where: Clock, now: dt.datetime) -> Deferral | None:
    asked = Wishes(
        channel=channel,
        timezone=where.zone_name,
        windows=quiet_hours.read(json.dumps(wishes.quiet_hours)),
        do_not_disturb_until=wishes.do_not_disturb_until,
    )
    return deferral.deferral(asked, priority=Priority.P2, day=ProducerDay(), now=now)


def _lately(person: Recipient) -> list[Line]:
    notifications = list(
        Notification.objects
        .filter(recipient_id=person.pk)
        .only("id", "type", "priority", "created_at", "expires_at")
        .order_by("-pk")[:LATELY]
    )
    if not notifications:
        return []
    ranges = (Q(pk__gt=each.pk, pk__lte=ids.last_delivery_of(each.pk)) for each in notifications)
    theirs: dict[UUID, list[Delivery]] = defaultdict(list)
    for delivery in Delivery.objects.filter(functools.reduce(operator.or_, ranges)).order_by("pk"):
        theirs[delivery.notification_id].append(delivery)
    return [
        Line(
            notification=each,
            efforts=[effort(delivery, expires_at=each.expires_at) for delivery in theirs[each.pk]],
        )
        for each in notifications
    ]
