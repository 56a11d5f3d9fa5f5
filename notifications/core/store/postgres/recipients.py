"""Recipients, contacts and preferences, as sent by producers.

A contact reported as dead stays invalid when a producer sends the whole recipient with the address
again. An operator can make the contact valid, and a device, chat or webhook added alone
(`add_contact`) is valid again. A contact removed by a producer, or a device registered by another
recipient, becomes valid when the producer sends the address again.
"""

from __future__ import annotations

import contextlib
from collections.abc import Mapping, Sequence
from typing import Final

from django.db import IntegrityError, transaction

from notifications.core.models import Contact, Preference, Recipient
from notifications.core.rules.lane import Mode
from notifications.core.rules.suppression import LISTED
from notifications.core.store.postgres import db, device_owners
from notifications.core.store.postgres.contact_book import (
    Address,
    ContactBook,
    ContactChange,
    store_timezone,
)
from notifications.core.store.redis import metric_counters
from providers.contract import Channel

_TRIES: Final = 5
"""Tries of a registration: another call may create the recipient, and an erasure may delete it."""


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
            book = ContactBook(recipient, change)
            book.keep_only(addresses)
            for address in addresses:
                book.put(address)
            book.store()
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
        book = ContactBook(locked, change)
        for address in addresses:
            book.put(address)
        book.store()
    return locked


def _update_or_create(
    mode: Mode, user_id: str, values: Mapping[str, object]
) -> tuple[Recipient, bool]:
    """Return the recipient, locked until the open transaction ends, and True for a new one."""
    rows = Recipient.objects.select_for_update()
    for _ in range(_TRIES - 1):
        with contextlib.suppress(IntegrityError):
            return rows.update_or_create(mode=mode, user_id=user_id, defaults=values)
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
        locked = Recipient.objects.select_for_update().get(pk=recipient.pk)
        if devices := _devices([address]):
            device_owners.lock(locked, devices)
        book = ContactBook(locked, change)
        contact = book.put(address, registers=address.channel not in LISTED)
        book.store()
    return contact


def remove_contact(recipient: Recipient, *, contact_id: int, change: ContactChange) -> bool:
    """Stop using a contact; False if the recipient has no such contact."""
    with transaction.atomic():
        locked = Recipient.objects.select_for_update().get(pk=recipient.pk)
        device_owners.lock(locked)
        book = ContactBook(locked, change)
        contact = book.find(contact_id)
        if contact is None:
            return False
        book.end(contact)
        book.store()
    return True


def set_timezone(recipient: Recipient) -> None:
    """Store the timezone of a recipient's number after another change of the contacts."""
    store_timezone(recipient, recipient.contacts.order_by("pk"))


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


def _devices(registered: Sequence[Address]) -> list[str]:
    return [each.address for each in registered if each.channel is Channel.PUSH]
