"""Archive keys: a random key for each recipient, which encrypts the recipient's archived data.

The table holds each key encrypted under the first of NOTIFY_ENCRYPTION_KEYS; all configured keys
decrypt. After an erasure no copy of a recipient's key is left in the database, and the recipient's
data in all files of the archive is unreadable. A backup of the database still has the key until the
backup is deleted.
"""

from __future__ import annotations

import functools
import os
from array import array
from collections.abc import Collection, Mapping
from typing import Final

from cryptography.exceptions import InvalidTag
from cryptography.hazmat.primitives.ciphers.aead import AESGCM
from django.db import DatabaseError

from notifications.core.models import ArchiveKey
from notifications.core.store.postgres import db, secret_variables
from notifications.features.archive import rows

NONCE_BYTES: Final = 12
KEY_BYTES: Final = 32
_AT_ONCE: Final = 10_000
"""Keys inserted by one statement."""


class UnreadableKey(DatabaseError):
    """None of NOTIFY_ENCRYPTION_KEYS decrypts an archive key. Add the former key to the list."""


@functools.cache
def _wrapping() -> tuple[AESGCM, ...]:
    return tuple(AESGCM(key) for key in secret_variables.derive(b"archive-person"))


@functools.cache
def hash_keys() -> tuple[bytes, ...]:
    """Return the keys (32 bytes) of the hashes in the key index, the current key first."""
    return secret_variables.derive(b"archive-keys")


def forget() -> None:
    """Read the keys from the settings again."""
    _wrapping.cache_clear()
    hash_keys.cache_clear()


def create_missing(partition: rows.Day) -> int:
    """Create the missing keys of the recipients of a day; returns the number.

    Safe to run twice and in concurrent processes: the first key of a recipient stays. An erased
    recipient gets no key.
    """
    recipients = array("q", rows.recipients_without_key(partition))
    for start in range(0, len(recipients), _AT_ONCE):
        some = recipients[start : start + _AT_ONCE].tolist()
        sealed = [wrap(os.urandom(KEY_BYTES), recipient) for recipient in some]
        db.run("archive_add_keys", {"recipients": some, "sealed": sealed})
    return len(recipients)


def wrap(key: bytes, recipient_id: int) -> bytes:
    """Encrypt a recipient's key under the current encryption key: 60 bytes."""
    nonce = os.urandom(NONCE_BYTES)
    return nonce + _wrapping()[0].encrypt(nonce, key, str(recipient_id).encode())


def unwrap(sealed: bytes, recipient_id: int) -> bytes:
    """Decrypt a recipient's key.

    Raises:
        UnreadableKey: the encryption key of the archive key is not configured any more.
    """
    nonce, body = sealed[:NONCE_BYTES], sealed[NONCE_BYTES:]
    for wrapping in _wrapping():
        try:
            return wrapping.decrypt(nonce, body, str(recipient_id).encode())
        except InvalidTag:
            continue
    raise UnreadableKey(
        f"no key of NOTIFY_ENCRYPTION_KEYS decrypts the archive key of recipient {recipient_id};"
        " add the former key to the end of the list"
    )


def of_recipients(recipient_ids: Collection[int]) -> Mapping[int, bytes]:
    """Return recipient id -> key; erased recipients are missing.

    Raises:
        UnreadableKey: as `unwrap`.
    """
    found = ArchiveKey.objects.filter(pk__in=recipient_ids).values_list("pk", "sealed")
    return {recipient: unwrap(bytes(sealed), recipient) for recipient, sealed in found}
