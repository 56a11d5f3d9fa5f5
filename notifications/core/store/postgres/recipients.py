"""Recipients, contacts and preferences, as sent by producers.

A contact reported as dead stays invalid when a producer sends the whole recipient with the address
again. An operator can make the contact valid, and a device, chat or webhook added alone
(`add_contact`) is valid again. A contact removed by a producer, or a device registered by another
recipient, becomes valid when the producer sends the address again.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Final

from django.db import IntegrityError, transaction

from notifications.core import clock
from notifications.core.models import Contact, Preference, Recipient
from notifications.core.rules import addresses, phone
from notifications.core.rules.lane import Mode
from notifications.core.rules.suppression import LISTED
from notifications.core.store.postgres import contacts_by_address, db, device_owners
from notifications.core.store.redis import metric_counters
from providers.contract import Channel

TAKEN_AWAY: Final = "taken away by its producer"
ENDED: Final = frozenset({TAKEN_AWAY, device_owners.MOVED})
"""The reasons after which a repeated address is valid again."""
_CALLED_DEAD: Final = re.compile(r"\w+: ")
"""Beginning of the reason of a provider: its name."""


@dataclass(frozen=True, slots=True, kw_only=True)
class ContactChange:
    """The actor of contact changes, and a callback before a primary contact is replaced."""

    by: str = ""
    losing: Callable[[Contact], None] = lambda _contact: None


@dataclass(frozen=True, slots=True, kw_only=True)
class Address:
    """A contact as sent by a producer."""

    channel: Channel
    address: str
    kind: str = ""
    primary: bool = False


def find(*, mode: Mode, user_id: str) -> Recipient | None:
    """Return the recipient with a user id and mode."""
    return Recipient.objects.filter(mode=mode, user_id=user_id).first()


def upsert(
    *,
    mode: Mode,
    user_id: str,
    profile: Mapping[str, str],
    addresses: Sequence[Address] | None,
    change: ContactChange,
    attributes: Mapping[str, object] | None = None,
) -> tuple[Recipient, bool]:
    """Create or update a recipient; also return True for a new recipient.

    `profile` has the changed `locale` and `timezone`; `addresses` replaces all contacts, None keeps
    the contacts; `change` names the actor; `attributes` replaces all attributes, None keeps them.
    """
    values: dict[str, object] = {**profile}
    if attributes is not None:
        values["attributes"] = _without_nulls(attributes)
    with transaction.atomic():
        recipient, created = _update_or_create(mode, user_id, values)
        if addresses is not None:
            device_owners.lock(recipient, _devices(addresses))
            _remove(recipient, keep=addresses, change=change)
            for address in addresses:
                _upsert_contacts(recipient, address, change)
            for channel in {address.channel for address in addresses}:
                _ensure_primary(recipient, channel)
            set_timezone(recipient)
    return recipient, created


def merge(
    recipient: Recipient,
    *,
    profile: Mapping[str, str],
    addresses: Sequence[Address],
    change: ContactChange,
    attributes: Mapping[str, object] | None = None,
) -> Recipient:
    """Update a recipient's profile, set attributes (null removes), add or refresh contacts."""
    with transaction.atomic():
        locked = Recipient.objects.select_for_update().get(pk=recipient.pk)
        for name, value in profile.items():
            setattr(locked, name, value)
        locked.attributes = _without_nulls({**locked.attributes, **(attributes or {})})
        locked.save(update_fields=[*profile, "attributes", "updated_at"])
        if devices := _devices(addresses):
            device_owners.lock(locked, devices)
        for address in addresses:
            _upsert_contacts(locked, address, change)
        for channel in {address.channel for address in addresses}:
            _ensure_primary(locked, channel)
        set_timezone(locked)
    return locked


def _update_or_create(
    mode: Mode, user_id: str, values: Mapping[str, object]
) -> tuple[Recipient, bool]:
    """Return the recipient, locked until the open transaction ends, and True for a new one."""
    rows = Recipient.objects.select_for_update()
    try:
        return rows.update_or_create(mode=mode, user_id=user_id, defaults=values)
    except IntegrityError:  # another call created the recipient, and an erasure deleted the row
        return rows.update_or_create(mode=mode, user_id=user_id, defaults=values)


def _without_nulls(attributes: Mapping[str, object]) -> dict[str, object]:
    return {name: value for name, value in attributes.items() if value is not None}


def lock(*, mode: Mode, user_id: str) -> Recipient | None:
    """Return the recipient with preferences, locked until the open transaction ends."""
    recipient = Recipient.objects.select_for_update().filter(mode=mode, user_id=user_id).first()
    if recipient is not None:
        Preference.objects.select_for_update().filter(recipient=recipient).first()
    return recipient


def add_contact(recipient: Recipient, address: Address, change: ContactChange) -> Contact:
    """Add a contact, or refresh a known contact.

    On a channel without the suppression list, a contact added again is valid again, and
    counts as changed: a device registered again, or a person unblocked a bot, whatever a provider
    said before.
    """
    with transaction.atomic():
        Recipient.objects.select_for_update().get(pk=recipient.pk)
        if devices := _devices([address]):
            device_owners.lock(recipient, devices)
        registers = address.channel not in LISTED
        contact = _upsert_contacts(recipient, address, change, registers=registers)
        _ensure_primary(recipient, address.channel)
        set_timezone(recipient)
        contact.refresh_from_db()
    return contact


def remove_contact(recipient: Recipient, *, contact_id: int, change: ContactChange) -> bool:
    """Stop using a contact; False if the recipient has no such contact."""
    with transaction.atomic():
        Recipient.objects.select_for_update().get(pk=recipient.pk)
        contact = recipient.contacts.filter(pk=contact_id).first()
        if contact is None:
            return False
        if contact.channel == Channel.PUSH:
            device_owners.lock(recipient)
            contact.refresh_from_db()
        _invalidate(contact, change)
        _ensure_primary(recipient, Channel(contact.channel))
        set_timezone(recipient)
    return True


def set_timezone(recipient: Recipient) -> None:
    """Store the timezone of a recipient's primary phone number, which saves parsing at send."""
    numbers = recipient.contacts.filter(
        channel=Channel.SMS, is_primary=True, invalidated_at=None
    ).values_list("address", flat=True)
    number = numbers.first()
    suggested = phone.zone_of(number) if number else ""
    stale = Recipient.objects.filter(pk=recipient.pk).exclude(phone_timezone=suggested)
    stale.update(phone_timezone=suggested)


def leave_category(recipient_id: int, *, category: str) -> bool:
    """Opt a recipient out of a category; False for a repeated opt-out or an erased recipient."""
    left = bool(
        db.fetch_in_own_transaction(
            "leave_category", {"recipient": recipient_id, "category": category}
        )
    )
    metric_counters.count_opt_outs([metric_counters.CATEGORY] * left)
    return left


def return_to_category(recipient_id: int, *, category: str) -> bool:
    """Undo an opt-out from a category; False without an opt-out."""
    return bool(
        db.fetch_in_own_transaction(
            "return_category", {"recipient": recipient_id, "category": category}
        )
    )


def _remove(recipient: Recipient, *, keep: Sequence[Address], change: ContactChange) -> None:
    kept = {(each.channel, addresses.key(each.channel, each.address)) for each in keep}
    for contact in recipient.contacts.filter(invalidated_at=None):
        if (contact.channel, addresses.key(contact.channel, contact.address)) not in kept:
            _invalidate(contact, change)


def _invalidate(contact: Contact, change: ContactChange) -> None:
    if contact.is_primary:
        change.losing(contact)
    if contact.invalidated_at is None:
        contact.invalidated_at = clock.now()
        contact.invalid_reason = TAKEN_AWAY
    contact.is_primary = False
    contact.changed_at, contact.changed_by = clock.now(), change.by
    contact.save()


def _upsert_contacts(
    recipient: Recipient, address: Address, change: ContactChange, *, registers: bool = False
) -> Contact:
    """Store a contact; `registers`: the contact is valid again, also after a provider's report."""
    known = _find(recipient, address)
    contact = known or Contact(recipient=recipient, channel=address.channel, created_by=change.by)
    before = _facts(contact)
    contact.kind, contact.address = address.kind, address.address
    was_called_dead = _CALLED_DEAD.match(contact.invalid_reason) is not None
    if contact.invalid_reason in ENDED or (registers and was_called_dead):
        contact.invalidated_at, contact.invalid_reason = None, ""
    if address.primary and contact.invalidated_at is None and not contact.is_primary:
        _demote(recipient, address.channel, change)
        contact.is_primary = True
    if known is not None and (registers or before != _facts(contact)):
        contact.changed_at, contact.changed_by = clock.now(), change.by
    contact.save()
    device_owners.take(contact, by=change.by)
    return contact


def _devices(registered: Sequence[Address]) -> list[str]:
    return [each.address for each in registered if each.channel is Channel.PUSH]


def _find(recipient: Recipient, address: Address) -> Contact | None:
    """Return the recipient's contact with an address, preferably in the same spelling."""
    known = contacts_by_address.of_keys([addresses.key(address.channel, address.address)])
    found = known.filter(recipient=recipient, channel=address.channel).order_by("pk")
    return min(found, key=lambda each: _rank(each, address), default=None)


def _rank(contact: Contact, address: Address) -> tuple[bool, bool]:
    return contact.address != address.address, contact.invalidated_at is not None


def _facts(contact: Contact) -> tuple[object, ...]:
    return contact.kind, contact.address, contact.is_primary, contact.invalidated_at


def _demote(recipient: Recipient, channel: Channel, change: ContactChange) -> None:
    """Demote the primary contact of a channel, if any."""
    for other in recipient.contacts.filter(channel=channel, is_primary=True):
        change.losing(other)
        other.is_primary = False
        other.changed_at, other.changed_by = clock.now(), change.by
        other.save()


def _ensure_primary(recipient: Recipient, channel: Channel) -> None:
    """Make the oldest valid contact of a channel primary, unless a contact is already chosen."""
    valid = recipient.contacts.filter(channel=channel, invalidated_at=None)
    oldest = valid.order_by("pk").first()
    if oldest is not None and not valid.filter(is_primary=True).exists():
        recipient.contacts.filter(channel=channel).update(is_primary=False)
        Contact.objects.filter(pk=oldest.pk).update(is_primary=True)
