"""A recipient's page for support: contacts, latest notifications and waits.

    clock      the recipient's local time, and the source of the timezone
    contacts   contacts with masked addresses: valid, invalid or suppressed, with reason and time
    preferences  topics by channel, with the own choices of the recipient, and the latest changes
    lately     the latest notifications, with the reason of every delivery, in local time

The page needs four indexed queries, however many messages the recipient has received.
"""

from __future__ import annotations

import datetime as dt
import json
from collections import defaultdict
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Final, NamedTuple
from uuid import UUID

from django.db.models import Func, Q, QuerySet, TextField

from notifications.core import clock, conf, feature
from notifications.core.admin import base
from notifications.core.delivery import routing
from notifications.core.feedback import preference_matrix
from notifications.core.feedback.preference_matrix import CellState, ChannelState, TopicState
from notifications.core.models import (
    AuditEntry,
    Contact,
    Delivery,
    Notification,
    Preference,
    Recipient,
    Suppression,
)
from notifications.core.rules import ids, masking, reasons
from notifications.core.rules.lane import Lane, Mode, Priority
from notifications.core.rules.language import locales
from notifications.core.rules.preferences import WHOLE_CHANNEL, Cell, Cells, covers
from notifications.core.rules.rate_limits import frequency_caps as cap_rules
from notifications.core.rules.rate_limits.frequency_caps import Cap
from notifications.core.rules.states import Status
from notifications.core.rules.switches import MessageSource
from notifications.core.rules.times import deferral, local_time, quiet_hours
from notifications.core.rules.times.deferral import Deferral, ProducerDay, Wishes
from notifications.core.store.cached import switches
from notifications.core.store.postgres import audit, preferences
from notifications.core.store.postgres.timelines import DeliveryView
from notifications.core.store.rate_limits import breaker_status, frequency_caps
from notifications.core.store.rate_limits.frequency_caps import Window
from notifications.core.store.redis import state
from providers.contract import Channel

LATELY: Final = 20
"""Notifications on the page; the list of notifications has all."""
CHANGES: Final = 5
"""Changes of the preferences on the page; the history of the recipient has all."""

_NO_SOURCE: Final = MessageSource(0, "", None)
"""A message of no producer, type and template: only switches of channels and lanes hold it."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Clock:
    """The recipient's timezone."""

    zone_name: str
    """Empty: unknown; times are shown in UTC."""
    unknown_name: str = ""
    """A stored name that the tz database lacks; the recipient counts as without a timezone."""
    source: str
    """Source of the timezone."""

    @property
    def zone(self) -> dt.tzinfo:
        """Return the timezone for display."""
        return local_time.zone(self.zone_name)


@dataclass(frozen=True, slots=True, kw_only=True)
class Reached:
    """A contact, and the reasons against sending."""

    contact: Contact
    suppressions: Sequence[Suppression]
    is_off: bool
    """The recipient switched the channel off."""
    wait: Deferral | None
    """End and reason of the wait of a P2 sent now."""
    obstacle: str
    """Any other obstacle for a P2 sent now, in words; empty without one."""

    @property
    def masked_address(self) -> str:
        """Return the masked address."""
        return masking.mask(self.contact.address, self.contact.channel)

    @property
    def reason(self) -> str:
        """Return the reason for the wait of a P2 sent now."""
        return self.wait.reason.sentence if self.wait else ""


@dataclass(frozen=True, slots=True, kw_only=True)
class Effort:
    """A delivery with texts for display."""

    delivery: Delivery | DeliveryView
    status: Status
    label: tuple[str, str]
    """Text and colour of the status."""
    reason: str
    ends: bool
    """The delivery waits beyond the time to live, so nothing will be sent."""

    @property
    def waits_until(self) -> dt.datetime | None:
        """Return the end of the wait of a scheduled delivery."""
        return self.delivery.due_at if self.status is Status.SCHEDULED else None


class CellMark(NamedTuple):
    """A cell of the preference matrix."""

    cell: CellState
    is_own: bool
    """The recipient switched it off."""


class ChannelMark(NamedTuple):
    """A channel of the preference matrix."""

    state: ChannelState
    is_own: bool
    """The recipient switched it off."""


@dataclass(frozen=True, slots=True, kw_only=True)
class PreferenceRow:
    """A category or type of the preference matrix."""

    topic: TopicState
    is_type: bool
    """The type belongs to the category above."""
    marks: Sequence[CellMark]


@dataclass(frozen=True, slots=True, kw_only=True)
class PreferenceCard:
    """The choices of the recipient, and the latest changes."""

    channels: Sequence[ChannelMark]
    rows: Sequence[PreferenceRow]
    changes: Sequence[AuditEntry]


@dataclass(frozen=True, slots=True, kw_only=True)
class NotificationLine:
    """A notification of the recipient."""

    notification: Notification
    efforts: Sequence[Effort]


def context(person: Recipient, *, may_view: Callable[[str], bool]) -> dict[str, Any]:
    """Return the template context of the card on the recipient's page.

    Args:
        person: the recipient.
        may_view: returns True if the operator may view a model; parts without permission are None.
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
        "preferences": _preferences(person) if may_view("preference") else None,
        "lately": _lately(person) if sees_messages else None,
        "cards": [card(person, may_view=may_view) for card in feature.functions("recipient_cards")],
        "latest": LATELY,
    }


def clock_of(person: Recipient) -> Clock:
    """Return the recipient's timezone, as far as known."""
    source = "their profile" if person.timezone else "their phone number"
    stored = person.timezone or person.phone_timezone
    known = local_time.zone_name(stored)
    return Clock(zone_name=known, source=source, unknown_name="" if known else stored)


def effort(delivery: Delivery | DeliveryView, *, expires_at: dt.datetime) -> Effort:
    """Return a delivery with texts for display."""
    status = Status(delivery.status)
    return Effort(
        delivery=delivery,
        status=status,
        label=base.label_of(status, delivery.reason),
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
    rows = (
        _suppressions_by_address(person, [contact.spelled for contact in found]) if listed else {}
    )
    wishes = Preference.objects.filter(pk=person.pk).first() or Preference()
    obstacles = _obstacles(person, found, wishes)
    for contact in found:
        channel = Channel(contact.channel)
        yield Reached(
            contact=contact,
            suppressions=rows.get((channel, contact.spelled), ()),
            is_off=channel in wishes.channels_off,
            wait=_wait(wishes, channel, where, now),
            obstacle=obstacles.get(contact.pk, ""),
        )


def _preferences(person: Recipient) -> PreferenceCard:
    wishes = Preference.objects.filter(pk=person.pk).first() or Preference(recipient=person)
    matrix = preference_matrix.of(person, wishes, language=locales.DEFAULT)
    own = preferences.cells_off(wishes)
    rows = [
        PreferenceRow(
            topic=topic,
            is_type=topic is not category,
            marks=[_mark(topic, cell, own) for cell in topic.cells],
        )
        for category in matrix.topics
        for topic in (category, *category.types)
    ]
    return PreferenceCard(
        channels=[
            ChannelMark(each, is_own=covers(own, Cell(WHOLE_CHANNEL, each.channel)))
            for each in matrix.channels
        ],
        rows=rows,
        changes=list(audit.of_object(wishes)[:CHANGES]) if wishes.pk else [],
    )


def _mark(topic: TopicState, cell: CellState, own: Cells) -> CellMark:
    is_own = not cell.on and covers(own, Cell(topic.topic, cell.channel))
    return CellMark(cell, is_own=is_own)


def _suppressions_by_address(
    person: Recipient, addresses: Sequence[str]
) -> Mapping[tuple[int, str], Sequence[Suppression]]:
    """Return the active suppressions by channel and address; empty in test mode."""
    listed: dict[tuple[int, str], list[Suppression]] = defaultdict(list)
    if person.mode == Mode.LIVE:
        for row in Suppression.objects.filter(address__in=addresses, undone_at=None):
            listed[row.channel, row.address].append(row)
    return listed


def _wait(wishes: Preference, channel: Channel, where: Clock, now: dt.datetime) -> Deferral | None:
    asked = Wishes(
        channel=channel,
        timezone=where.zone_name,
        windows=quiet_hours.parse_stored(json.dumps(wishes.quiet_hours)),
        do_not_disturb_until=wishes.do_not_disturb_until,
    )
    return deferral.deferral(asked, priority=Priority.P2, day=ProducerDay(), now=now)


def _lately(person: Recipient) -> list[NotificationLine]:
    notifications = list(
        Notification.objects
        .filter(recipient_id=person.pk)
        .only("id", "type", "priority", "created_at", "expires_at")
        .order_by("-pk")[:LATELY]
    )
    if not notifications:
        return []
    theirs: dict[UUID, list[Delivery]] = defaultdict(list)
    for delivery in _deliveries_of(notifications):
        theirs[delivery.notification_id].append(delivery)
    return [
        NotificationLine(
            notification=each,
            efforts=[effort(delivery, expires_at=each.expires_at) for delivery in theirs[each.pk]],
        )
        for each in notifications
    ]


def _deliveries_of(notifications: Sequence[Notification]) -> QuerySet[Delivery]:
    """Return the deliveries in the order of the ids.

    The bounds are literals, so Postgres plans the partitions of the notifications only. A join with
    the list of ids plans each partition of the retention period, which takes 20 ms.
    """
    wanted = Q()
    for each in notifications:
        wanted |= Q(pk__gt=each.pk, pk__lte=ids.last_delivery_of(each.pk))
    return Delivery.objects.filter(wanted).order_by("pk")


def _obstacles(
    person: Recipient, contacts: Sequence[Contact], wishes: Preference
) -> dict[int, str]:
    """Return the first obstacle by contact id; a contact without an obstacle is left out.

    The checks read the same settings, routes, counts and breakers as the delivery steps, and change
    nothing. A paused endpoint of one address and a full rate limit of a provider are left out,
    because both last for seconds.
    """
    found = dict(_full_caps(person, contacts, wishes)) if person.mode == Mode.LIVE else {}
    now = clock.now()
    for contact in contacts:
        if text := _not_allowed(person, contact) or _on_hold(person, contact, now=now):
            found[contact.pk] = text
    return found


def _not_allowed(person: Recipient, contact: Contact) -> str:
    allowed = conf.current().allowed
    if allowed is None or person.mode == Mode.TEST:
        return ""
    passes = allowed.allows(user_id=person.user_id, address=contact.address)
    return "" if passes else "is not sent: NOTIFY_ALLOWED_RECIPIENTS leaves the recipient out"


def _on_hold(person: Recipient, contact: Contact, *, now: dt.datetime) -> str:
    """Return a sentence if a switch, or every provider of the route, holds the contact now."""
    lane = Lane(Mode(person.mode), Priority.P2, Channel(contact.channel))
    names = routing.providers_for(
        lane.channel, lane.mode, kind=contact.kind, address=contact.address
    )
    if not names:
        return "waits: no configured provider serves this contact"
    board = switches.current()
    if switch := board.of_message(_NO_SOURCE, lane, now=now):
        return f"waits: {switch.detail}"
    if lane.mode is Mode.TEST:
        return ""
    standings = breaker_status.of_pairs((name, lane.channel) for name in names)
    causes: list[str] = []
    for (name, _), standing in standings.items():
        if provider_switch := board.of_provider(name, lane, now=now):
            causes.append(f"{name} ({provider_switch.detail})")
        elif standing.is_open:
            causes.append(f"{name} ({standing.why})")
        else:
            return ""
    return f"waits: calls are paused at {', '.join(causes)}"


def _full_caps(
    person: Recipient, contacts: Sequence[Contact], wishes: Preference
) -> Iterator[tuple[int, str]]:
    own = cap_rules.parse_all(wishes.caps)
    asked: dict[Channel, Cap] = {}
    for contact in contacts:
        channel = Channel(contact.channel)
        cap = cap_rules.cap_for(Priority.P2, channel, own=own, usual=conf.current().caps)
        if cap is not None:
            asked[channel] = cap
    windows = [(Window(person.pk, channel), cap) for channel, cap in asked.items()]
    try:
        counts = dict(zip(asked, frequency_caps.counts(windows), strict=True))
    except state.Away:
        return
    for contact in contacts:
        channel = Channel(contact.channel)
        if channel in asked and counts[channel] >= asked[channel].limit:
            yield contact.pk, f"waits: the frequency cap of {asked[channel]} is full"
