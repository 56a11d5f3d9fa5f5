"""Signing secrets of webhook contacts: one for each, replaced with an overlap.

A secret is derived from the encryption keys, the contact's id and its version, so nothing secret
is stored. For OVERLAP after a change the old and the new secret sign together; the same holds for
two encryption keys for as long as both are configured. Contacts of a release that had one secret
for all receivers are signed with that secret as well until `shared_secret_until`.
"""

from __future__ import annotations

import datetime as dt
import hashlib
from dataclasses import dataclass
from typing import Final, Protocol

from django.db.models import F

from notifications import clock
from notifications.models import Contact
from notifications.store.postgres import secret_variables
from providers.contract import Channel
from providers.standard_webhooks import Secret

OVERLAP: Final = dt.timedelta(days=7)
"""How long the secret before the current one signs too: time to change a receiver."""


class Signed(Protocol):
    """What is stored of a contact's secret: a row of the model or of a query."""

    @property
    def secret_version(self) -> int:
        """Which secret is in use."""

    @property
    def secret_changed_at(self) -> dt.datetime | None:
        """Since when."""

    @property
    def shared_secret_until(self) -> dt.datetime | None:
        """Till when the secret of all receivers signs as well."""


def keys_of(contact_id: int, stored: Signed, *, now: dt.datetime) -> tuple[bytes, ...]:
    """The keys that sign for a contact now, the newest first."""
    versions = [stored.secret_version]
    if overlap_until(stored, now=now) is not None:
        versions.append(stored.secret_version - 1)
    return tuple(
        key
        for version in versions
        for key in secret_variables.signing_key(f"{contact_id}:{version}")
    )


def overlap_until(stored: Signed, *, now: dt.datetime) -> dt.datetime | None:
    """Until when the secret before the current one signs; None where it does not."""
    changed_at = stored.secret_changed_at
    return changed_at + OVERLAP if changed_at and now < changed_at + OVERLAP else None


@dataclass(frozen=True, slots=True)
class Known:
    """What may be told of a secret that signs now."""

    fingerprint: str
    is_current: bool
    signs_until: dt.datetime | None
    """None: no time is set."""


def secrets_of(contact: Contact, *, now: dt.datetime) -> list[Known]:
    """The secrets of a webhook contact that sign now, the newest first."""
    keys, until = keys_of(contact.pk, contact, now=now), overlap_until(contact, now=now)
    each_version = len(keys) // 2 if until else len(keys)
    return [
        Known(
            fingerprint(key),
            is_current=position == 0,
            signs_until=until if position >= each_version else None,
        )
        for position, key in enumerate(keys)
    ]


def fingerprint(key: bytes) -> str:
    """16 hexadecimal digits by which two secrets are told apart."""
    return hashlib.sha256(key).hexdigest()[:16]


def is_shared(stored: Signed, *, now: dt.datetime) -> bool:
    """Whether the secret of all receivers signs for a contact too."""
    return stored.shared_secret_until is not None and now < stored.shared_secret_until


def renew(contact_id: int) -> Secret | None:
    """Give a webhook contact a new secret; the one before signs for OVERLAP more.

    Returns:
        The new secret, to be shown once; None where there is no such webhook contact.
    """
    now = clock.now()
    found = Contact.objects.filter(pk=contact_id, channel=Channel.WEBHOOK)
    if not found.update(secret_version=F("secret_version") + 1, secret_changed_at=now):
        return None
    return Secret(keys_of(contact_id, found.get(), now=now)[0])
