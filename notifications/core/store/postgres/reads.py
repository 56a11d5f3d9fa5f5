"""Queries of intake and delivery: contacts, preferences, and the notification of a delivery."""

from __future__ import annotations

import datetime as dt
import functools
from collections.abc import Collection, Iterable, Mapping
from types import MappingProxyType
from typing import Any, Final, NamedTuple
from uuid import UUID

import orjson

from notifications.core.rules import countries, preferences
from notifications.core.rules.channels import INBOX_KIND, RecipientContacts
from notifications.core.rules.lane import Mode
from notifications.core.rules.rate_limits import frequency_caps
from notifications.core.rules.rate_limits.frequency_caps import Caps
from notifications.core.rules.request import DIGEST_KEYS
from notifications.core.rules.times import digest_times, local_time
from notifications.core.rules.times.digest_times import Digests
from notifications.core.store.postgres import db, id_ranges
from notifications.core.store.postgres.contact_book import TAKEN_AWAY
from providers.contract import Channel

_NO_CAPS: Final[Caps] = {}
_NOTHING: Final = frozenset[Any]()
_NO_DIGESTS: Final[Digests] = MappingProxyType({})
_NO_TOPICS: Final[Mapping[Channel, frozenset[str]]] = MappingProxyType({})


class NotificationRow(NamedTuple):
    """The columns of a notification needed by delivery: a row of `notifications_of.sql`."""

    content: dict[str, Any] | None
    variables: dict[str, Any]
    id: UUID
    producer_id: int
    type: str
    category: str
    retry_preset: str
    user_id: str
    template: int | None
    sealed: bytes | None
    collapse_key: str
    ordering_key: str
    traceparent: str
    expires_at: dt.datetime
    is_cancelled: bool
    is_scheduled: bool
    begins_at: dt.datetime
    """The creation, or the later send time: the beginning of the time to live."""
    is_digest: bool
    """True if the notification replaces others (`features.digests.merge`)."""
    inbox: str | None = None
    """JSON object of the in-app options `expires_in` and `data`."""
    bulk_job_id: UUID | None = None
    idempotency_key: str = ""
    attachments: str | None = None
    """JSON list, as `rules.attachments.read` reads it; None without attachments."""
    template_variant: str = ""
    """Variant of the template's texts; empty: the base texts."""


class ContactState(NamedTuple):
    """A contact and the recipient's preferences: a row of `contacts.sql`."""

    channels_off: frozenset[Channel]
    categories_off: frozenset[str]
    caps: Caps
    topics_off: Mapping[Channel, frozenset[str]]
    """Categories and types that are off on one channel."""
    digests: Digests
    """The recipient's choices between at once, daily and weekly, by topic."""
    contact_id: int
    kind: str
    address: str
    is_valid: bool
    is_suppressed: bool
    """True if the address is on the suppression list."""
    locale: str
    timezone: str
    """Timezone of the recipient, else of the phone number; empty if unknown (`local_time`)."""
    quiet_hours: str
    """JSON, as `rules.times.quiet_hours` reads it."""
    do_not_disturb_until: dt.datetime | None
    secret_version: int
    secret_changed_at: dt.datetime | None
    shared_secret_until: dt.datetime | None
    is_taken_away: bool = False
    """True if a producer removed the contact; the notice about the removal is still sent to it."""
    sends_receipts: bool = False
    """True if the recipient's app sent a client receipt in the last 30 days."""

    def country_on(self, channel: Channel) -> str:
        """Return the country of a delivery to the contact (`rules.countries`)."""
        return countries.of_delivery(
            channel, address=self.address, timezone=self.timezone, locale=self.locale
        )


def notifications(notification_ids: Iterable[UUID]) -> dict[int, NotificationRow]:
    """Return the existing notifications by the number of their id.

    A JSON value of another release that is no object counts as an empty object.
    """
    ids = list(notification_ids)
    if not ids:
        return {}
    parameters = {**id_ranges.around(ids), "ids": ids, "digest": DIGEST_KEYS}
    found: dict[int, NotificationRow] = {}
    for content, variables, *others in db.tuples("notifications_of", parameters):
        own, given = orjson.loads(content) if content else None, orjson.loads(variables)
        row = NotificationRow(
            own if own is None or isinstance(own, dict) else {},
            given if isinstance(given, dict) else {},
            *others,
        )
        found[row.id.int] = row
    return found


def traceparents(notification_ids: Iterable[UUID]) -> dict[UUID, str]:
    """Return the trace context of the existing notifications by id."""
    rows = db.rows("traceparents", {"ids": list(notification_ids)})
    return {row["id"]: row["traceparent"] for row in rows}


def destinations(contact_ids: Iterable[int]) -> dict[int, ContactState]:
    """Return the existing contacts and inboxes by id (see `channels.inbox_of`)."""
    wanted = set(contact_ids)
    inboxes = [-each for each in wanted if each < 0]
    found: list[tuple[Any, ...]] = []
    if len(inboxes) < len(wanted):
        parameters = {"ids": list(wanted), "live": Mode.LIVE, "taken_away": TAKEN_AWAY}
        found += db.tuples("contacts", parameters)
    if inboxes:
        found += db.tuples("inbox_destinations", {"recipients": inboxes, "kind": INBOX_KIND})
    zones = local_time.names()
    states: dict[int, ContactState] = {}
    for channels_off, categories_off, own_caps, topics_off, digests, *others in found:
        if others[_TIMEZONE] not in zones:
            others[_TIMEZONE] = ""
        state = ContactState(
            _channels(channels_off) if channels_off else _NOTHING,
            frozenset(categories_off) if categories_off else _NOTHING,
            read_caps(own_caps) if own_caps else _NO_CAPS,
            _topics_off(topics_off) if topics_off else _NO_TOPICS,
            read_digests(digests) if digests else _NO_DIGESTS,
            *others,
        )
        states[state.contact_id] = state
    return states


_TIMEZONE: Final = 6
"""Place of the timezone behind the digests in `contacts.sql`."""


@functools.lru_cache(maxsize=4096)
def read_caps(written: str) -> Caps:
    """Return the caps of a stored JSON object; no caps of an unreadable object."""
    # The doors let nothing unreadable in. One that came another way must not stop its whole batch:
    # it counts as not written.
    try:
        return frequency_caps.parse_all(orjson.loads(written))
    except (KeyError, ValueError):
        return _NO_CAPS


@functools.lru_cache(maxsize=4096)
def _topics_off(written: str) -> Mapping[Channel, frozenset[str]]:
    found = orjson.loads(written)
    return MappingProxyType(preferences.read_topics(found))


@functools.lru_cache(maxsize=4096)
def read_digests(written: str) -> Digests:
    """Return the digest choices of a stored JSON object."""
    return MappingProxyType(digest_times.read(orjson.loads(written)))


def reaches(mode: Mode, user_ids: Collection[str]) -> dict[str, RecipientContacts]:
    """Return the current contacts and preferences of users; unknown users are missing."""
    [found] = db.fetch_all([reaches_query(mode, user_ids)])
    return {reach.user_id: reach for reach in found}


def reaches_by_id(recipient_ids: Collection[int]) -> dict[int, RecipientContacts]:
    """Return the same by recipient id."""
    [found] = db.fetch_all([reaches_query(Mode.LIVE, recipient_ids=recipient_ids)])
    return {reach.recipient_id: reach for reach in found}


def reaches_query(
    mode: Mode, user_ids: Iterable[str] = (), *, recipient_ids: Iterable[int] = ()
) -> db.Query[RecipientContacts]:
    """Build the query for the current contacts and preferences of recipients."""
    whose = {"user_ids": list(user_ids), "ids": list(recipient_ids)}
    constants = {"mode": mode, "live": Mode.LIVE, "sms": Channel.SMS}
    return db.Query("reaches", {**whose, **constants}, _reach)


def _reach(*row: Any) -> RecipientContacts:  # noqa: ANN401 - a row of reaches.sql
    recipient_id, user_id, timezone, locale, off, order, categories_off, topics_off = row[:8]
    contact_channels, contact_ids, suppressed, number = row[8:]
    contacts: dict[Channel, list[int]] = {}
    for channel, contact_id in zip(contact_channels or (), contact_ids or (), strict=True):
        if channel in _CHANNELS:
            contacts.setdefault(_CHANNELS[channel], []).append(contact_id)
    return RecipientContacts(
        recipient_id,
        user_id,
        local_time.zone_name(timezone),
        contacts,
        suppressed=_channels(suppressed) if suppressed else _NOTHING,
        channel_order=[_CHANNELS[each] for each in order if each in _CHANNELS] if order else (),
        channels_off=_channels(off) if off else _NOTHING,
        categories_off=frozenset(categories_off) if categories_off else _NOTHING,
        topics_off=_topics_off(topics_off) if topics_off else _NO_TOPICS,
        locale=locale,
        number=number or "",
    )


def _channels(numbers: Collection[int] | None) -> frozenset[Channel]:
    if not numbers:
        return _NOTHING
    return frozenset([_CHANNELS[number] for number in numbers if number in _CHANNELS])


_CHANNELS: Final = {channel.value: channel for channel in Channel}
"""Known channels. A channel of a newer release is missing; this release ignores such rows."""
