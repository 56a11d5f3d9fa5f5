"""New recipients with their contacts, stored with two statements whatever the number of recipients.

`recipients` stores a single recipient, new or known, with several statements.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from operator import attrgetter

from django.db import transaction

from notifications.core.models import Contact, Recipient
from notifications.core.rules.lane import Mode
from notifications.core.store.postgres import contact_book
from notifications.core.store.postgres.contact_book import Address


@dataclass(frozen=True, slots=True, kw_only=True)
class NewRecipient:
    """A recipient to store."""

    user_id: str
    profile: Mapping[str, str]
    """`locale` and `timezone`, each if it is given."""
    addresses: Sequence[Address]
    attributes: Mapping[str, object]
    """Values by name; null is left out."""


def store(wanted: Iterable[NewRecipient], *, mode: Mode, by: str) -> dict[str, Recipient]:
    """Store recipients and return their rows by user id, all or none.

    The rows are inserted in the order of user ids, so that two calls have no deadlock. The caller
    has locked the devices among the addresses, and found no other recipient with one of them.

    Raises:
        django.db.IntegrityError: another call has stored a recipient meanwhile.
    """
    rows: list[Recipient] = []
    contacts: list[Contact] = []
    for each in sorted(wanted, key=attrgetter("user_id")):
        given = {name: value for name, value in each.attributes.items() if value is not None}
        row = Recipient(mode=mode, user_id=each.user_id, attributes=given, **each.profile)
        own = contact_book.first_contacts(row, each.addresses, by=by)
        row.phone_timezone = contact_book.timezone_of(own)
        rows.append(row)
        contacts += own
    with transaction.atomic():
        Recipient.objects.bulk_create(rows)
        Contact.objects.bulk_create(contacts)
    return {row.user_id: row for row in rows}
