"""A device belongs to one recipient of a mode at a time: the recipient of the last registration.

An app or browser keeps its push token when another person signs in, so the new owner would read the
former owner's messages. Mailboxes and phone numbers have no single owner: a household can share
them, and producers name each recipient as a person.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Final

from django.db.models import QuerySet

from notifications.core import clock
from notifications.core.models import Contact, Recipient
from notifications.core.rules import addresses
from notifications.core.store.postgres import audit, contacts_by_address, db
from providers.contract import Channel

MOVED: Final = "registered later by another contact"
"""Reason of a contact that ended; the contact is valid again when its recipient registers it."""
_OPERATION: Final = "move_device"
"""Action in the audit log."""
_CLASS: Final = 7_237_003
"""Lock class of devices, apart from other advisory locks in the same database."""


def lock(recipient: Recipient, registered: Iterable[str] = ()) -> None:
    """Lock the devices of a recipient, and new addresses, until the open transaction ends.

    Called before every change or erasure of devices, because another recipient may take a device at
    the same time. The caller has locked the recipient. Devices are locked in the order of the keys,
    so an exchange between two recipients has no deadlock.
    """
    known = recipient.contacts.filter(channel=Channel.PUSH, invalidated_at=None)
    mine = known.values_list("address", flat=True)
    lock_addresses(recipient.mode, [*mine, *registered])


def lock_addresses(mode: int, devices: Iterable[str]) -> None:
    """Lock devices of several recipients, all of which the caller has locked before."""
    keys = {f"{int(mode)}:{addresses.key(Channel.PUSH, each)}" for each in devices}
    if not keys:
        return
    with db.cursor() as running:
        running.execute(
            "SELECT pg_advisory_xact_lock(%s, hashed) FROM ("
            " SELECT DISTINCT hashtext(key) AS hashed FROM unnest(%s::text[]) AS key ORDER BY 1"
            ") AS ordered",
            [_CLASS, list(keys)],
        )


def take(contact: Contact, *, by: str) -> None:
    """End every other valid contact of the mode with the device of a valid contact."""
    if contact.channel != Channel.PUSH or contact.invalidated_at is not None:
        return
    for other in others(contact).order_by("pk").select_for_update(of=("self",)):
        before = audit.facts_of(other)
        other.invalidated_at, other.invalid_reason = clock.now(), MOVED
        other.changed_at, other.changed_by, other.is_primary = clock.now(), by, False
        other.save()
        audit.record(by, _OPERATION, other, before=before, after=audit.facts_of(other))


def others(contact: Contact) -> QuerySet[Contact]:
    """Return the other valid contacts of the mode with the device of a contact."""
    same = contacts_by_address.of_keys([addresses.key(contact.channel, contact.address)])
    return same.filter(
        channel=contact.channel, recipient__mode=contact.recipient.mode, invalidated_at=None
    ).exclude(pk=contact.pk)
