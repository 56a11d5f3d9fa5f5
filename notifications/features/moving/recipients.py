"""Recipients of an export: the ones that differ from the stored recipients, and the changes.

A part of an import is read with four queries, and a recipient that would not change is not locked.
A change adds: contacts that the recipient does not have, in any state, and cells that are on. The
file of another system is older than the answers that this service got, so no contact becomes valid
again, no primary contact is replaced, no device moves from another recipient, and no cell is
switched on. Locale, timezone and attributes become those of the file.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Collection, Mapping, Sequence
from contextlib import AbstractContextManager, nullcontext
from dataclasses import dataclass, field, replace
from typing import Final

from django.db import transaction

from notifications.core.feedback import preference_matrix
from notifications.core.intake import contact_changes
from notifications.core.intake.contact_changes import TooManyChanges
from notifications.core.models import Contact, Preference, Recipient, Topic, TopicSubscriber
from notifications.core.rules import addresses, preferences
from notifications.core.rules.lane import Mode
from notifications.core.rules.preferences import Cell, CellChange
from notifications.core.store.postgres import (
    audit,
    contacts_by_address,
    recipients,
    recipients_by_address,
)
from notifications.core.store.postgres import preferences as stored_preferences
from notifications.core.store.postgres.contact_book import Address, ContactChange
from notifications.core.store.postgres.preferences import MandatoryTopic, TooManyTopics
from notifications.features.audiences.rows import topics
from notifications.features.moving.export import NotUnderstood, RecipientItem
from providers.contract import Channel

OPERATION: Final = "import_recipients"
"""The operation in the audit log."""
_HELD: Final = "the device is registered by another recipient, who keeps the device"


@dataclass(frozen=True, slots=True, kw_only=True)
class Author:
    """The actor of an import, and the rules that hold for the actor."""

    by: str
    """Name in the audit log."""
    is_for_person: bool = False
    """True: what the file switches off counts as switched off by the person, and no key may switch
    it on."""


@dataclass(slots=True)
class WrittenPart:
    """The result of a part."""

    changed: int = 0
    unchanged: int = 0
    faults: list[NotUnderstood] = field(default_factory=list)


@dataclass(frozen=True, slots=True, kw_only=True)
class _Difference:
    """Changes of one recipient; an empty difference changes nothing."""

    item: RecipientItem
    user_id: str
    is_new: bool
    profile: Mapping[str, str]
    addresses: Sequence[Address]
    attributes: Mapping[str, object]
    off: Collection[Cell]
    topics: Collection[str]

    def __bool__(self) -> bool:
        parts = (self.profile, self.addresses, self.attributes, self.off, self.topics)
        return self.is_new or any(parts)


@dataclass(slots=True)
class _Stored:
    """The stored state of the recipients of a part, by user id."""

    rows: dict[str, Recipient] = field(default_factory=dict)
    contacts: defaultdict[int, set[tuple[int, str]]] = field(
        default_factory=lambda: defaultdict(set)
    )
    """Recipient id -> channel and key of each contact, valid or not."""
    off: dict[int, preferences.Cells] = field(default_factory=dict)
    topics: defaultdict[int, set[str]] = field(default_factory=lambda: defaultdict(set))
    devices: dict[str, str] = field(default_factory=dict)
    """Key of a push address -> user id of the recipient with the valid contact."""


def write(
    items: Sequence[RecipientItem], *, mode: Mode, author: Author, is_dry: bool
) -> WrittenPart:
    """Store a part in one transaction with the audit entries; safe to repeat.

    A dry run does the same and rolls back; it takes no permit of the limit of contact changes.
    """
    with transaction.atomic():
        done = _write(items, mode=mode, author=author, is_dry=is_dry)
        if is_dry:
            transaction.set_rollback(True)
    return done


def _write(
    items: Sequence[RecipientItem], *, mode: Mode, author: Author, is_dry: bool
) -> WrittenPart:
    done = WrittenPart()
    people, registered = _by_user_id(items, mode=mode, by=author.by)
    stored = _read(people, mode=mode)
    found = [_difference(item, user_id, stored, done) for user_id, item in people.items()]
    found = [replace(each, is_new=each.is_new or each.user_id in registered) for each in found]
    differing = [each for each in found if each]
    done.unchanged = len(found) - len(differing)
    if differing:
        _store_all(differing, mode=mode, author=author, is_dry=is_dry, done=done)
    return done


def _store_all(
    differing: Sequence[_Difference], *, mode: Mode, author: Author, is_dry: bool, done: WrittenPart
) -> None:
    rows = Recipient.objects.filter(mode=mode, user_id__in=[each.user_id for each in differing])
    parts = [model.objects.filter(recipient__in=rows) for model in (Contact, Preference)]
    subscribers: defaultdict[str, list[str]] = defaultdict(list)
    with audit.changes(author.by, OPERATION, rows, *parts):
        for each in differing:
            if not _store(each, mode=mode, author=author, is_dry=is_dry, done=done):
                continue
            for topic in each.topics:
                subscribers[topic].append(each.user_id)
    for topic, user_ids in sorted(subscribers.items()):
        _subscribe(topic, user_ids, mode=mode, by=author.by)


def _by_user_id(
    items: Sequence[RecipientItem], *, mode: Mode, by: str
) -> tuple[dict[str, RecipientItem], set[str]]:
    """Return the items by user id, several items of one recipient as one, and the new user ids.

    A recipient by address is found, or registered in the open transaction.
    """
    wanted = {item.to for item in items if item.to is not None}
    found = recipients_by_address.ensure(mode, wanted, by=by) if wanted else {}
    registered = {each.user_id: each.id for each in found.values() if each.is_new}
    if registered:
        ids = list(registered.values())
        made = [
            *Recipient.objects.filter(pk__in=ids).order_by("pk"),
            *Contact.objects.filter(recipient__in=ids).order_by("pk"),
        ]
        audit.record_made({(by, OPERATION): made})
    people: dict[str, RecipientItem] = {}
    for item in items:
        user_id = item.user_id if item.to is None else found[item.to].user_id
        known = people.get(user_id)
        people[user_id] = item if known is None else _joined(known, item)
    return people, set(registered)


def _joined(first: RecipientItem, other: RecipientItem) -> RecipientItem:
    return replace(
        first,
        profile={**other.profile, **first.profile},
        addresses=first.addresses + other.addresses,
        attributes={**other.attributes, **first.attributes},
        off=first.off | other.off,
        topics=first.topics | other.topics,
    )


def _read(people: Mapping[str, RecipientItem], *, mode: Mode) -> _Stored:
    stored = _Stored()
    rows = Recipient.objects.filter(mode=mode, user_id__in=people)
    stored.rows = {row.user_id: row for row in rows}
    ids = [row.pk for row in stored.rows.values()]
    columns = ("recipient_id", "channel", "address")
    for owner, channel, address in Contact.objects.filter(recipient__in=ids).values_list(*columns):
        stored.contacts[owner].add((channel, addresses.key(Channel(channel), address)))
    for row in Preference.objects.filter(recipient__in=ids):
        stored.off[row.recipient_id] = stored_preferences.off(row)
    wanted = {topic for item in people.values() for topic in item.topics}
    known = Topic.objects.filter(mode=mode, name__in=wanted, deleted_at=None)
    names = dict(known.values_list("pk", "name")) if wanted else {}
    subscribed = TopicSubscriber.objects.filter(topic_id__in=names, recipient_id__in=ids)
    for topic_id, owner in subscribed.values_list("topic_id", "recipient_id") if names else ():
        stored.topics[owner].add(names[topic_id])
    keys = {
        addresses.key(Channel.PUSH, each.address)
        for item in people.values()
        for each in item.addresses
        if each.channel is Channel.PUSH
    }
    held = contacts_by_address.of_keys(keys).filter(
        channel=Channel.PUSH, recipient__mode=mode, invalidated_at=None
    )
    for user_id, address in held.values_list("recipient__user_id", "address") if keys else ():
        stored.devices[addresses.key(Channel.PUSH, address)] = user_id
    return stored


def _difference(
    item: RecipientItem, user_id: str, stored: _Stored, done: WrittenPart
) -> _Difference:
    """Return the changes; a device of another recipient is a fault."""
    row = stored.rows.get(user_id)
    owner = 0 if row is None else row.pk
    given = {} if row is None else {"locale": row.locale, "timezone": row.timezone}
    values = {} if row is None else row.attributes
    has = set(stored.contacts[owner]) if owner else set()
    fresh = []
    for each in item.addresses:
        key = addresses.key(each.channel, each.address)
        if (each.channel, key) in has:
            continue
        has.add((each.channel, key))
        if each.channel is Channel.PUSH and stored.devices.setdefault(key, user_id) != user_id:
            done.faults.append(NotUnderstood(item.place, _HELD))
        else:
            fresh.append(each)
    off = stored.off.get(owner, frozenset())
    return _Difference(
        item=item,
        user_id=user_id,
        is_new=row is None,
        profile={name: text for name, text in item.profile.items() if given.get(name) != text},
        addresses=fresh,
        attributes={
            name: each for name, each in item.attributes.items() if values.get(name) != each
        },
        off=sorted(cell for cell in item.off if not preferences.covers(off, cell)),
        topics=item.topics - (stored.topics[owner] if owner else set()),
    )


def _store(
    wanted: _Difference, *, mode: Mode, author: Author, is_dry: bool, done: WrittenPart
) -> bool:
    """Store the changes of one recipient, all or none; False for a fault."""
    try:
        with transaction.atomic():
            row, _ = recipients.upsert(
                mode=mode,
                user_id=wanted.user_id,
                profile=wanted.profile,
                addresses=None,
                change=ContactChange(by=author.by),
            )
            with _watch(wanted, mode=mode, by=author.by, is_dry=is_dry) as change:
                row = recipients.merge(
                    row,
                    profile={},
                    addresses=wanted.addresses,
                    change=change,
                    attributes=wanted.attributes,
                )
            if wanted.off:
                _switch_off(row, wanted.off, author=author)
    except (MandatoryTopic, TooManyTopics, TooManyChanges) as error:
        done.faults.append(NotUnderstood(wanted.item.place, str(error)))
        return False
    done.changed += 1
    return True


def _watch(
    wanted: _Difference, *, mode: Mode, by: str, is_dry: bool
) -> AbstractContextManager[ContactChange]:
    """Charge changed contacts of a known recipient to the limit that the API has."""
    if is_dry or wanted.is_new or not wanted.addresses:
        return nullcontext(ContactChange(by=by))
    return contact_changes.watch(mode, wanted.user_id, by=by)


def _switch_off(row: Recipient, cells: Collection[Cell], *, author: Author) -> None:
    stored_preferences.change(
        row,
        {},
        choices=[CellChange(cell, on=False) for cell in cells],
        by_recipient=author.is_for_person,
        mandatory=preference_matrix.mandatory_topics(),
        known=preference_matrix.known_topics(),
    )


def _subscribe(name: str, user_ids: Sequence[str], *, mode: Mode, by: str) -> None:
    topic = topics.ensure(mode=mode, name=name, by=by)
    result = topics.subscribe(topic, user_ids)
    if result.changed:
        audit.record(by, OPERATION, topic, after={"subscribers": result.changed})
