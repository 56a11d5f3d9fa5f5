"""The contacts of a locked recipient: read at once, changed in memory, stored with few statements.

    book = ContactBook(recipient, change)
    book.keep_only(addresses)          ends the contacts with other addresses
    book.put(address)                  adds a contact, or refreshes a known contact
    book.store()                       writes what differs, and chooses primary contacts

The caller has locked the recipient, and the devices of the contacts to change (`device_owners`).
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from typing import Final

from notifications.core import clock
from notifications.core.models import Contact, Recipient
from notifications.core.rules import addresses, phone
from notifications.core.store.postgres import device_owners
from providers.contract import Channel

TAKEN_AWAY: Final = "taken away by its producer"
ENDED: Final = frozenset({TAKEN_AWAY, device_owners.MOVED})
"""The reasons after which a repeated address is valid again."""
_CALLED_DEAD: Final = re.compile(r"\w+: ")
"""Beginning of the reason of a provider: its name."""
_COLUMNS: Final = (
    *("kind", "address", "is_primary", "changed_at", "changed_by"),
    *("invalidated_at", "invalid_reason"),
)
"""The columns that a book changes."""


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


class ContactBook:
    """The contacts of a recipient, oldest first."""

    def __init__(
        self, recipient: Recipient, change: ContactChange, rows: Iterable[Contact] | None = None
    ) -> None:
        """Read the contacts, unless they are given in `rows`."""
        self._recipient = recipient
        self._change = change
        self._rows = list(recipient.contacts.order_by("pk") if rows is None else rows)
        self._known = [(row, _columns(row)) for row in self._rows]
        self._added: list[Contact] = []
        self._given: list[Contact] = []
        self._channels: set[int] = set()
        """Channels whose primary contact may have to be chosen."""

    def find(self, contact_id: int) -> Contact | None:
        """Return the contact of an id."""
        return next((row for row in self._rows if row.pk == contact_id), None)

    def keep_only(self, kept: Sequence[Address]) -> None:
        """End the valid contacts with other addresses."""
        keys = {(each.channel, addresses.key(each.channel, each.address)) for each in kept}
        for row in self._rows:
            if row.invalidated_at is None and _key(row) not in keys:
                self.end(row)

    def end(self, contact: Contact) -> None:
        """Stop using a contact; the contact stays invalid for an earlier reason."""
        if contact.is_primary:
            self._change.losing(contact)
        if contact.invalidated_at is None:
            contact.invalidated_at = clock.now()
            contact.invalid_reason = TAKEN_AWAY
        contact.is_primary = False
        contact.changed_at, contact.changed_by = clock.now(), self._change.by
        self._channels.add(contact.channel)

    def put(self, address: Address, *, registers: bool = False) -> Contact:
        """Add or refresh a contact; it has an id after `store`.

        Args:
            address: the address, in the normal form.
            registers: the contact is valid again, also after a provider's report.
        """
        known = self._find(address)
        contact = known or self._new(address)
        before = _facts(contact)
        contact.kind, contact.address = address.kind, address.address
        was_called_dead = _CALLED_DEAD.match(contact.invalid_reason) is not None
        if contact.invalid_reason in ENDED or (registers and was_called_dead):
            contact.invalidated_at, contact.invalid_reason = None, ""
        if address.primary and contact.invalidated_at is None and not contact.is_primary:
            self._demote(address.channel)
            contact.is_primary = True
        if known is not None and (registers or before != _facts(contact)):
            contact.changed_at, contact.changed_by = clock.now(), self._change.by
        self._given.append(contact)
        self._channels.add(address.channel)
        return contact

    def store(self) -> None:
        """Write new and changed contacts, move devices, and store the timezone of the number."""
        self.choose_primary()
        changed = [row for row, before in self._known if before != _columns(row)]
        # A channel has one primary contact at any time, so the others come first.
        for row in sorted(changed, key=lambda each: each.is_primary):
            row.save(update_fields=_COLUMNS)
        Contact.objects.bulk_create(self._added)
        for row in self._given:
            device_owners.take(row, by=self._change.by)
        store_timezone(self._recipient, self._rows)

    def choose_primary(self) -> list[Contact]:
        """Choose the primary contacts, and return the contacts that are not stored yet."""
        for channel in self._channels:
            self._ensure_primary(channel)
        return self._added

    def _new(self, address: Address) -> Contact:
        made = Contact(
            recipient=self._recipient, channel=address.channel, created_by=self._change.by
        )
        self._rows.append(made)
        self._added.append(made)
        return made

    def _find(self, address: Address) -> Contact | None:
        """Return the contact with an address, preferably in the same spelling."""
        wanted = (address.channel, addresses.key(address.channel, address.address))
        found = [row for row in self._rows if _key(row) == wanted]
        return min(found, key=lambda each: _rank(each, address), default=None)

    def _demote(self, channel: Channel) -> None:
        for row in self._rows:
            if row.channel == channel and row.is_primary:
                if row not in self._added:
                    self._change.losing(row)
                    row.changed_at, row.changed_by = clock.now(), self._change.by
                row.is_primary = False

    def _ensure_primary(self, channel: int) -> None:
        """Make the oldest valid contact of a channel primary, unless one is chosen."""
        rows = [row for row in self._rows if row.channel == channel]
        valid = [row for row in rows if row.invalidated_at is None]
        if valid and not any(row.is_primary for row in valid):
            for row in rows:
                row.is_primary = row is valid[0]


def first_contacts(
    recipient: Recipient, registered: Sequence[Address], *, by: str
) -> list[Contact]:
    """Return the contacts of a recipient without a contact; stores nothing."""
    book = ContactBook(recipient, ContactChange(by=by), rows=())
    for address in registered:
        book.put(address)
    return book.choose_primary()


def store_timezone(recipient: Recipient, contacts: Iterable[Contact]) -> None:
    """Store the timezone of a recipient's primary phone number, which saves parsing at send."""
    suggested = timezone_of(contacts)
    if recipient.phone_timezone != suggested:
        recipient.phone_timezone = suggested
        Recipient.objects.filter(pk=recipient.pk).update(phone_timezone=suggested)


def timezone_of(contacts: Iterable[Contact]) -> str:
    """Return the timezone of the primary phone number; empty without one."""
    numbers = (
        each.address
        for each in contacts
        if each.channel == Channel.SMS and each.is_primary and each.invalidated_at is None
    )
    number = next(numbers, "")
    return phone.zone_of(number) if number else ""


def _key(contact: Contact) -> tuple[int, str]:
    return contact.channel, addresses.key(contact.channel, contact.address)


def _rank(contact: Contact, address: Address) -> tuple[bool, bool]:
    return contact.address != address.address, contact.invalidated_at is not None


def _facts(contact: Contact) -> tuple[object, ...]:
    return contact.kind, contact.address, contact.is_primary, contact.invalidated_at


def _columns(contact: Contact) -> tuple[object, ...]:
    return tuple(getattr(contact, name) for name in _COLUMNS)
