"""Sensitive variables: encrypted at rest, wiped when no delivery can need the values."""

from __future__ import annotations

import base64
import functools
import hashlib
import hmac
from collections.abc import Iterable
from typing import Any, Final
from uuid import UUID

import orjson
from cryptography.fernet import Fernet, MultiFernet

from notifications.core import conf
from notifications.core.rules.sensitive import Sensitive
from notifications.core.rules.states import OPEN, Status
from notifications.core.store.postgres import db, id_ranges


@functools.cache
def _keys() -> MultiFernet:
    return MultiFernet([Fernet(key) for key in conf.current().encryption_keys])


@functools.cache
def _hash_keys() -> tuple[bytes, ...]:
    return derive(b"request-body")


@functools.cache
def _signing_keys() -> tuple[bytes, ...]:
    return derive(b"webhook-secret")


def signing_key(name: str) -> list[bytes]:
    """Derive the signing keys (32 bytes) of a webhook contact, one per encryption key, in order.

    Args:
        name: name of the contact and version of the secret.
    """
    return [hmac.digest(key, name.encode(), "sha256") for key in _signing_keys()]


def derive(purpose: bytes) -> tuple[bytes, ...]:
    """Derive a key of 32 bytes per encryption key, in order."""
    secrets = [base64.urlsafe_b64decode(key) for key in conf.current().encryption_keys]
    return tuple(hashlib.blake2b(each, person=purpose, digest_size=32).digest() for each in secrets)


def forget() -> None:
    """Read the keys from the settings again."""
    _keys.cache_clear()
    _hash_keys.cache_clear()
    _signing_keys.cache_clear()


class Fingerprint:
    """A keyed hash of a request body.

    The hash is stored as long as an idempotency key, and a body can hold a six-digit sign-in code:
    with an unkeyed hash a reader could find the code by trying all values.
    """

    __slots__ = ("_body", "kept")

    def __init__(self, body: Sensitive[bytes]) -> None:
        self._body = body
        self.kept: Final = self._hash(_hash_keys()[0])
        """The 16 bytes to store, made with the first key."""

    def is_of(self, kept: bytes) -> bool:
        """Return True if the stored hash matches the body under any configured key."""
        return hmac.compare_digest(kept, self.kept) or any(
            hmac.compare_digest(kept, self._hash(key)) for key in _hash_keys()[1:]
        )

    def _hash(self, key: bytes) -> bytes:
        return hashlib.blake2b(self._body.reveal(), key=key, digest_size=16).digest()


def encrypt(variables: Sensitive[dict[str, Any]]) -> bytes:
    """Encrypt with the first key."""
    return _keys().encrypt(orjson.dumps(variables.reveal()))


def decrypt(sealed: bytes) -> Sensitive[dict[str, Any]]:
    """Decrypt with any of the keys.

    Raises:
        cryptography.fernet.InvalidToken: none of the configured keys made it.
    """
    return Sensitive(orjson.loads(_keys().decrypt(bytes(sealed))))


_UNCONFIRMED: Final = sorted({Status.SENT, Status.UNKNOWN})
"""Statuses that wait for a receipt while the row has a due time."""


def wipe(notification_ids: Iterable[UUID]) -> int:
    """Wipe variables that no delivery and no dead letter can need. Safe at any time."""
    statuses = {"open": sorted(OPEN), "unconfirmed": _UNCONFIRMED}
    return sum(
        db.run("wipe_secrets", {**span, **statuses, "ids": wanted})
        for span, wanted in id_ranges.by_day(notification_ids)
    )


def wipe_expired(*, limit: int) -> int:
    """Wipe the variables of up to `limit` expired notifications."""
    expired = [row["id"] for row in db.rows("secrets_expired", {"limit": limit})]
    return db.run("wipe_expired", {"ids": expired}) if expired else 0
