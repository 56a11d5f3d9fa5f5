"""Signing secrets of webhook contacts: a secret for each contact, rotated with an overlap.

A secret is derived from the encryption keys, the contact's id and the version number, so no secret
is stored. For OVERLAP after a rotation the old and the new secret both sign. Two configured
encryption keys both sign as well. Contacts of a release with one secret for all receivers are also
signed with the shared secret, until `shared_secret_until`.
"""

from __future__ import annotations

import datetime as dt
import hashlib
from dataclasses import dataclass
from typing import Final, Protocol

from django.db.models import F

from notifications.core import clock
from notifications.core.models import Contact
from notifications.core.store.postgres import secret_variables
from providers.contract import Channel
from providers.standard_webhooks import Secret

OVERLAP: Final = dt.timedelta(days=7)
"""Time for which the previous secret also signs, so that a receiver can be changed."""


class StoredSecret(Protocol):
    """The stored fields of a contact's secret: a model row or a query row."""

    @property
    def secret_version(self) -> int:
        """Version of the current secret."""

    @property
    def secret_changed_at(self) -> dt.datetime | None:
        """Time of the last rotation."""

    @property
    def shared_secret_until(self) -> dt.datetime | None:
        """Time until which the shared secret signs as well."""


def keys_of(contact_id: int, stored: StoredSecret, *, now: dt.datetime) -> tuple[bytes, ...]:
    """Return the keys that sign for a contact now, newest first."""
    versions = [stored.secret_version]
    if overlap_until(stored, now=now) is not None:
        versions.append(stored.secret_version - 1)
    return tuple(
        key
        for version in versions
        for key in secret_variables.signing_key(f"{contact_id}:{version}")
    )


def overlap_until(stored: StoredSecret, *, now: dt.datetime) -> dt.datetime | None:
    """Return the end of the previous secret's overlap; None outside an overlap."""
    changed_at = stored.secret_changed_at
    return changed_at + OVERLAP if changed_at and now < changed_at + OVERLAP else None


@dataclass(frozen=True, slots=True)
class ActiveSecret:
    """The public properties of a valid secret."""

    fingerprint: str
    is_current: bool
    signs_until: dt.datetime | None
    """None if the secret has no end."""


def secrets_of(contact: Contact, *, now: dt.datetime) -> list[ActiveSecret]:
    """Return the valid secrets of a webhook contact, newest first."""
    keys, until = keys_of(contact.pk, contact, now=now), overlap_until(contact, now=now)
    each_version = len(keys) // 2 if until else len(keys)
    return [
        ActiveSecret(
            fingerprint(key),
            is_current=position == 0,
            signs_until=until if position >= each_version else None,
        )
        for position, key in enumerate(keys)
    ]


def fingerprint(key: bytes) -> str:
    """Return 16 hexadecimal digits as the name of a secret."""
    return hashlib.sha256(key).hexdigest()[:16]


def is_shared(stored: StoredSecret, *, now: dt.datetime) -> bool:
    """Return True if the shared secret also signs for a contact."""
    return stored.shared_secret_until is not None and now < stored.shared_secret_until


def rotate(contact_id: int) -> Secret | None:
    """Rotate the secret of a webhook contact; the previous secret signs for OVERLAP.

    Returns:
        The new secret, to be shown once; None if the webhook contact does not exist.
    """
    now = clock.now()
    found = Contact.objects.filter(pk=contact_id, channel=Channel.WEBHOOK)
    if not found.update(secret_version=F("secret_version") + 1, secret_changed_at=now):
        return None
    return Secret(keys_of(contact_id, found.get(), now=now)[0])
