"""Recipients of an export: the ones that differ from the stored recipients, and the changes.

A recipient that would not change is not locked; the others are locked, and compared again. A change
adds: contacts that the recipient does not have, in any state, and cells that are on. No contact
becomes valid again, no primary contact is replaced, no device moves from another recipient, and no
cell is switched on. Locale, timezone and attributes become those of the file.

Imports switch a cell off, and subscribe to a topic, once for a recipient: the audit log has the
changes of earlier imports, and a later change in this service stays. An opt-out by address holds
for each recipient with the address as a valid contact.
"""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Collection, Mapping, Sequence
from contextlib import AbstractContextManager, nullcontext
from dataclasses import dataclass, field, replace
from operator import attrgetter
from typing import Final

from django.db import IntegrityError, transaction

from notifications.core.feedback import preference_matrix
from notifications.core.intake import contact_changes
from notifications.core.intake.contact_changes import TooManyChanges
from notifications.core.models import Contact, Preference, Recipient
from notifications.core.rules import addresses, preferences
from notifications.core.rules.lane import Mode
from notifications.core.rules.preferences import Cell, CellChange
from notifications.core.rules.recipient import fault_of_new_id
from notifications.core.store.postgres import (
    audit,
    merged_recipients,
    new_recipients,
    recipients,
    recipients_by_address,
)
from notifications.core.store.postgres import preferences as stored_preferences
from notifications.core.store.postgres.contact_book import Address, ContactChange
from notifications.core.store.postgres.new_recipients import NewRecipient
from notifications.core.store.postgres.preferences import MandatoryTopic, TooManyTopics
from notifications.features.audiences.rows import topics
from notifications.features.moving import stored_recipients
from notifications.features.moving.export import NotUnderstood, RecipientItem, Remark
from notifications.features.moving.stored_recipients import OPERATION, TOPICS, StoredRecipients
from providers.contract import Channel

HELD: Final = "the device is registered by another recipient, who keeps the device"
_NO_USER: Final = (
    "no recipient had the address, so the opt-out is at a new recipient by address; import the"
    " users first, or import this file again after the users"
)
_SWITCHED_ON: Final = "opt-out of an earlier import, switched on in this service"
_LEFT: Final = "topic of an earlier import, left in this service"


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
    remarks: list[Remark] = field(default_factory=list)
    left_out: Counter[str] = field(default_factory=Counter)
    """Choices of the file that a later change in this service outweighs, by name."""


@dataclass(frozen=True, slots=True, kw_only=True)
class _Difference:
    """Changes of one recipient; an empty difference stores no row."""

    item: RecipientItem
    user_id: str
    row: Recipient | None
    """The stored recipient."""
    is_new: bool
    profile: Mapping[str, str]
    addresses: Sequence[Address]
    attributes: Mapping[str, object]
    off: Collection[Cell]
    topics: Collection[str]
    faults: Sequence[NotUnderstood]
    left_out: Counter[str]

    def __bool__(self) -> bool:
        parts = (self.profile, self.addresses, self.attributes, self.off, self.topics)
        return self.is_new or any(parts)


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
    people, registered = _by_user_id(items, mode=mode, by=author.by, done=done)
    found = _compare(people, registered, mode=mode)
    differing = {each.user_id: people[each.user_id] for each in found if each}
    found = [each for each in found if not each]
    if differing:
        stored_recipients.lock(differing, mode=mode)
        found += _compare(differing, registered, mode=mode)
    found = [each for each in found if not _has_wrong_id(each, done)]
    for each in found:
        done.faults += each.faults
        done.left_out += each.left_out
    changes = sorted((each for each in found if each), key=attrgetter("user_id"))
    done.unchanged = len(found) - len(changes)
    if changes:
        _store_all(changes, mode=mode, author=author, is_dry=is_dry, done=done)
    return done


def _store_all(
    changes: Sequence[_Difference], *, mode: Mode, author: Author, is_dry: bool, done: WrittenPart
) -> None:
    rows = Recipient.objects.filter(mode=mode, user_id__in=[each.user_id for each in changes])
    parts = [model.objects.filter(recipient__in=rows) for model in (Contact, Preference)]
    subscribers: defaultdict[str, list[str]] = defaultdict(list)
    with audit.changes(author.by, OPERATION, rows, *parts):
        made = _create([each for each in changes if each.row is None], mode=mode, by=author.by)
        for each in changes:
            new = made.get(each.user_id)
            if not _store(each, new, mode=mode, author=author, is_dry=is_dry, done=done):
                continue
            for topic in each.topics:
                subscribers[topic].append(each.user_id)
    for topic, user_ids in sorted(subscribers.items()):
        _subscribe(topic, user_ids, mode=mode, by=author.by)


def _has_wrong_id(found: _Difference, done: WrittenPart) -> bool:
    """Tell the fault of the user id of a new recipient; known recipients keep theirs."""
    fault = fault_of_new_id(found.user_id) if found.is_new else ""
    if fault:
        done.faults.append(NotUnderstood(found.item.place, fault))
    return bool(fault)


def _by_user_id(
    items: Sequence[RecipientItem], *, mode: Mode, by: str, done: WrittenPart
) -> tuple[dict[str, RecipientItem], set[str]]:
    """Return the items by user id, several items of one recipient as one, and the new user ids.

    A recipient by address is found, or registered in the open transaction.
    """
    wanted = {item.to for item in items if item.to is not None}
    if wanted:
        merged_recipients.hold()
    found = recipients_by_address.ensure(mode, wanted, by=by) if wanted else {}
    registered = {each.user_id: each.id for each in found.values() if each.is_new}
    if registered:
        ids = list(registered.values())
        made = [
            *Recipient.objects.filter(pk__in=ids).order_by("pk"),
            *Contact.objects.filter(recipient__in=ids).order_by("pk"),
        ]
        audit.record_made({(by, OPERATION): made})
    holders = stored_recipients.holders(items, mode=mode)
    people: dict[str, RecipientItem] = {}
    for item in items:
        named = item.user_id if item.to is None else found[item.to].user_id
        _add(people, named, item)
        if item.to is None or not item.off:
            continue
        if named in registered:
            done.remarks.append(Remark(item.place, _NO_USER))
        for user_id in holders[item.to]:
            _add(people, user_id, RecipientItem(place=item.place, user_id=user_id, off=item.off))
    return people, set(registered)


def _add(people: dict[str, RecipientItem], user_id: str, item: RecipientItem) -> None:
    known = people.get(user_id)
    people[user_id] = item if known is None else _join(known, item)


def _join(first: RecipientItem, other: RecipientItem) -> RecipientItem:
    return replace(
        first,
        profile={**other.profile, **first.profile},
        addresses=first.addresses + other.addresses,
        attributes={**other.attributes, **first.attributes},
        off=first.off | other.off,
        topics=first.topics | other.topics,
    )


def _compare(
    people: Mapping[str, RecipientItem], registered: Collection[str], *, mode: Mode
) -> list[_Difference]:
    stored = stored_recipients.read(people, mode=mode)
    found = [_difference(item, user_id, stored) for user_id, item in people.items()]
    return [replace(each, is_new=each.is_new or each.user_id in registered) for each in found]


def _difference(item: RecipientItem, user_id: str, stored: StoredRecipients) -> _Difference:
    """Return the changes; a device of another recipient is a fault."""
    row = stored.rows.get(user_id)
    owner = 0 if row is None else row.pk
    given = {} if row is None else {"locale": row.locale, "timezone": row.timezone}
    values = {} if row is None else row.attributes
    off = stored.off.get(owner, frozenset())
    cells = sorted(cell for cell in item.off if not preferences.covers(off, cell))
    topics = item.topics - stored.topics[owner]
    ended, left = stored.past_off[owner].intersection(cells), stored.past_topics[owner] & topics
    fresh, held = _new_addresses(item, user_id, stored, owner)
    return _Difference(
        item=item,
        user_id=user_id,
        row=row,
        is_new=row is None,
        profile={name: text for name, text in item.profile.items() if given.get(name) != text},
        addresses=fresh,
        attributes={
            name: each for name, each in item.attributes.items() if values.get(name) != each
        },
        off=[cell for cell in cells if cell not in ended],
        topics=topics - left,
        faults=[NotUnderstood(item.place, HELD)] * held,
        left_out=+Counter({_SWITCHED_ON: len(ended), _LEFT: len(left)}),
    )


def _new_addresses(
    item: RecipientItem, user_id: str, stored: StoredRecipients, owner: int
) -> tuple[list[Address], int]:
    """Return the addresses to add, and the number of devices of other recipients."""
    has = set(stored.contacts[owner])
    fresh, held = [], 0
    for each in item.addresses:
        key = addresses.key(each.channel, each.address)
        if (each.channel, key) in has:
            continue
        has.add((each.channel, key))
        if each.channel is Channel.PUSH and stored.devices.setdefault(key, user_id) != user_id:
            held += 1
        else:
            fresh.append(each)
    return fresh, held


def _create(wanted: Sequence[_Difference], *, mode: Mode, by: str) -> Mapping[str, Recipient]:
    """Store new recipients and contacts; store none if another call stored a recipient first."""
    new = [
        NewRecipient(
            user_id=each.user_id,
            profile=each.profile,
            addresses=each.addresses,
            attributes=each.attributes,
        )
        for each in wanted
    ]
    try:
        return new_recipients.store(new, mode=mode, by=by)
    except IntegrityError:
        return {}


def _store(
    wanted: _Difference,
    made: Recipient | None,
    *,
    mode: Mode,
    author: Author,
    is_dry: bool,
    done: WrittenPart,
) -> bool:
    """Store the changes of one recipient, all or none; False for a fault.

    Args:
        wanted: the changes.
        made: the new recipient, with profile, contacts and attributes; None: all is to be stored.
        mode: mode of the recipient.
        author: the actor.
        is_dry: True: the transaction will be rolled back.
        done: gets the result.
    """
    try:
        with transaction.atomic() if made is None or wanted.off else nullcontext():
            row = made or _merge(wanted, mode=mode, by=author.by, is_dry=is_dry)
            if wanted.off:
                # A dry run counts no opt-out: the metric is outside of the transaction.
                _switch_off(row, wanted.off, is_for_person=author.is_for_person and not is_dry)
            if wanted.topics:
                audit.record(author.by, OPERATION, row, after={TOPICS: sorted(wanted.topics)})
    except (MandatoryTopic, TooManyTopics, TooManyChanges) as error:
        if made is not None:
            made.delete()
        done.faults.append(NotUnderstood(wanted.item.place, str(error)))
        return False
    done.changed += 1
    return True


def _merge(wanted: _Difference, *, mode: Mode, by: str, is_dry: bool) -> Recipient:
    """Store profile, contacts and attributes of a recipient, known or new."""
    row = (
        wanted.row
        or recipients.upsert(
            mode=mode,
            user_id=wanted.user_id,
            profile={},
            addresses=None,
            change=ContactChange(by=by),
        )[0]
    )
    with _watch(wanted, mode=mode, by=by, is_dry=is_dry) as change:
        return recipients.merge(
            row,
            profile=wanted.profile,
            addresses=wanted.addresses,
            change=change,
            attributes=wanted.attributes,
        )


def _watch(
    wanted: _Difference, *, mode: Mode, by: str, is_dry: bool
) -> AbstractContextManager[ContactChange]:
    """Charge changed contacts of a known recipient to the limit that the API has."""
    if is_dry or wanted.is_new or not wanted.addresses:
        return nullcontext(ContactChange(by=by))
    return contact_changes.watch(mode, wanted.user_id, by=by)


def _switch_off(row: Recipient, cells: Collection[Cell], *, is_for_person: bool) -> None:
    stored_preferences.change(
        row,
        {},
        choices=[CellChange(cell, on=False) for cell in cells],
        by_recipient=is_for_person,
        mandatory=preference_matrix.mandatory_topics(),
        known=preference_matrix.known_topics(),
    )


def _subscribe(name: str, user_ids: Sequence[str], *, mode: Mode, by: str) -> None:
    topic = topics.ensure(mode=mode, name=name, by=by)
    result = topics.subscribe(topic, user_ids)
    if result.changed:
        audit.record(by, OPERATION, topic, after={"subscribers": result.changed})
