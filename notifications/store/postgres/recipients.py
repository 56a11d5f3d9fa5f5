"""Recipients, their contacts and preferences, as producers hand them in.

An address that a provider called dead stays invalid when a producer hands the address in again;
only an operator makes it valid. An address that a producer removed is valid again when handed in
again.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Final

from django.db import transaction

from notifications import clock
from notifications.models import Contact, Preference, Recipient
from notifications.rules import phone
from notifications.rules.lane import Mode
from notifications.store.postgres import db
from notifications.store.redis import metric_counters
from providers.contract import Channel

TAKEN_AWAY: Final = "taken away by its producer"
"""The only reason after which a repeated address is valid again."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Change:
    """Who changes contacts, and what is to happen before a primary contact stops being used."""

    by: str = ""
    losing: Callable[[Contact], None] = lambda _contact: None


@dataclass(frozen=True, slots=True, kw_only=True)
class Address:
    """A contact as a producer hands it in."""

    channel: Channel
    address: str
    kind: str = ""
    primary: bool = False


class RecipientOptedOut(Exception):
    """The person switched these categories off: leave them to the person or to an operator."""

    def __init__(self, categories: Sequence[str]) -> None:
        """Carry the categories."""
        super().__init__(
            f"the person switched {', '.join(categories)} off: keep it in categories_off; the"
            " person or an operator may switch it on"
        )


def find(*, mode: Mode, user_id: str) -> Recipient | None:
    """Return the recipient of this user id and mode."""
    return Recipient.objects.filter(mode=mode, user_id=user_id).first()


def upsert(
    *,
    mode: Mode,
    user_id: str,
    profile: Mapping[str, str],
    addresses: Sequence[Address] | None,
    change: Change,
) -> tuple[Recipient, bool]:
    """Create or change a recipient; also returns whether it is new.

    `profile` has `locale` and `timezone`, where they change; `addresses` are all contacts from now
    on, None leaves them as they are; `change` says who changes them.
    """
    with transaction.atomic():
        recipient, created = Recipient.objects.select_for_update().update_or_create(
            mode=mode, user_id=user_id, defaults=profile
        )
        if addresses is not None:
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
    change: Change,
) -> Recipient:
    """Change a recipient's profile, and add contacts or hand known ones in again."""
    with transaction.atomic():
        locked = Recipient.objects.select_for_update().get(pk=recipient.pk)
        for name, value in profile.items():
            setattr(locked, name, value)
        locked.save(update_fields=[*profile, "updated_at"])
        for address in addresses:
            _upsert_contacts(locked, address, change)
        for channel in {address.channel for address in addresses}:
            _ensure_primary(locked, channel)
        set_timezone(locked)
    return locked


def lock(*, mode: Mode, user_id: str) -> Recipient | None:
    """The recipient, locked until the transaction that is open ends; their wishes with them."""
    recipient = Recipient.objects.select_for_update().filter(mode=mode, user_id=user_id).first()
    if recipient is not None:
        Preference.objects.select_for_update().filter(recipient=recipient).first()
    return recipient


def add_contact(recipient: Recipient, address: Address, change: Change) -> Contact:
    """Add a contact, or hand a known one in again."""
    with transaction.atomic():
        Recipient.objects.select_for_update().get(pk=recipient.pk)
        contact = _upsert_contacts(recipient, address, change)
        _ensure_primary(recipient, address.channel)
        set_timezone(recipient)
        contact.refresh_from_db()
    return contact


def remove_contact(recipient: Recipient, *, contact_id: int, change: Change) -> bool:
    """Stop using a contact; False if the recipient has no such contact."""
    with transaction.atomic():
        Recipient.objects.select_for_update().get(pk=recipient.pk)
        contact = recipient.contacts.filter(pk=contact_id).first()
        if contact is None:
            return False
        _invalidate(contact, change)
        _ensure_primary(recipient, Channel(contact.channel))
        set_timezone(recipient)
    return True


def set_timezone(recipient: Recipient) -> None:
    """Store the timezone that a recipient's primary number suggests, so that no send parses it."""
    numbers = recipient.contacts.filter(
        channel=Channel.SMS, is_primary=True, invalidated_at=None
    ).values_list("address", flat=True)
    number = numbers.first()
    suggested = phone.zone_of(number) if number else ""
    stale = Recipient.objects.filter(pk=recipient.pk).exclude(phone_timezone=suggested)
    stale.update(phone_timezone=suggested)


def prefer(recipient: Recipient, changes: Mapping[str, object]) -> Preference:
    """Change preferences of a recipient; the names are columns of the model.

    Raises:
        RecipientOptedOut: a category that the person switched off would be switched on.
    """
    with transaction.atomic():
        Preference.objects.get_or_create(recipient=recipient)
        preference = Preference.objects.select_for_update().get(recipient=recipient)
        for name, value in changes.items():
            setattr(preference, name, value)
        if returned := set(preference.categories_left) - set(preference.categories_off):
            raise RecipientOptedOut(sorted(returned))
        preference.save()
    return preference


def leave_category(recipient_id: int, *, category: str) -> bool:
    """Opt a recipient out of a category; False if they were out already, or are erased."""
    left = bool(
        db.fetch_in_own_transaction(
            "leave_category", {"recipient": recipient_id, "category": category}
        )
    )
    metric_counters.count_opt_outs([metric_counters.CATEGORY] * left)
    return left


def return_to_category(recipient_id: int, *, category: str) -> bool:
    """Take back an opt-out from a category; False if there is none."""
    return bool(
        db.fetch_in_own_transaction(
            "return_category", {"recipient": recipient_id, "category": category}
        )
    )


def _remove(recipient: Recipient, *, keep: Sequence[Address], change: Change) -> None:
    kept = {(address.channel, address.address) for address in keep}
    for contact in recipient.contacts.filter(invalidated_at=None):
        if (contact.channel, contact.address) not in kept:
            _invalidate(contact, change)


def _invalidate(contact: Contact, change: Change) -> None:
    if contact.is_primary:
        change.losing(contact)
    if contact.invalidated_at is None:
        contact.invalidated_at = clock.now()
        contact.invalid_reason = TAKEN_AWAY
    contact.is_primary = False
    contact.changed_at, contact.changed_by = clock.now(), change.by
    contact.save()


def _upsert_contacts(recipient: Recipient, address: Address, change: Change) -> Contact:
    contact, created = recipient.contacts.get_or_create(
        channel=address.channel,
        address=address.address,
        defaults={"kind": address.kind, "created_by": change.by},
    )
    before = (contact.kind, contact.is_primary, contact.invalidated_at)
    contact.kind = address.kind
    if contact.invalid_reason == TAKEN_AWAY:
        contact.invalidated_at, contact.invalid_reason = None, ""
    if address.primary and contact.invalidated_at is None and not contact.is_primary:
        _demote(recipient, address.channel, change)
        contact.is_primary = True
    if not created and before != (contact.kind, contact.is_primary, contact.invalidated_at):
        contact.changed_at, contact.changed_by = clock.now(), change.by
    contact.save()
    return contact


def _demote(recipient: Recipient, channel: Channel, change: Change) -> None:
    """The primary contact of a channel, if there is one, gives way to another."""
    for other in recipient.contacts.filter(channel=channel, is_primary=True):
        change.losing(other)
        other.is_primary = False
        other.changed_at, other.changed_by = clock.now(), change.by
        other.save()


def _ensure_primary(recipient: Recipient, channel: Channel) -> None:
    """Give a channel with valid contacts a primary one: the oldest, unless one is named."""
    valid = recipient.contacts.filter(channel=channel, invalidated_at=None)
    oldest = valid.order_by("pk").first()
    if oldest is not None and not valid.filter(is_primary=True).exists():
        recipient.contacts.filter(channel=channel).update(is_primary=False)
        Contact.objects.filter(pk=oldest.pk).update(is_primary=True)
