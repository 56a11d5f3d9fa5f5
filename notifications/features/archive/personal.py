"""Personal values: encryption of one value for each notification, under the recipient's key.

AES-256-GCM with a random nonce; the notification's id is authenticated with the value, so a value
cannot be moved to another notification. A recipient without a key was erased: the value gets a key
that is not stored, so the value is unreadable.
"""

from __future__ import annotations

import hashlib
import os
import zlib
from collections.abc import Mapping, Sequence
from typing import Any, Final

import orjson
import pyarrow as pa
from cryptography.exceptions import InvalidTag
from cryptography.hazmat.primitives.ciphers.aead import AESGCM

from notifications.features.archive import keys as archive_keys
from notifications.features.archive.keys import KEY_BYTES, NONCE_BYTES

NAMES: Final = (
    *("user_id", "content", "variables", "metadata", "collapse_key", "ordering_key"),
    *("webhook_url", "idempotency_key", "event_details", "attempt_details", "inbox"),
    "attachments",
)
"""Names of the values, in the order of the JSON array of `archive_notification.sql`.

`event_details`: seq -> detail; `attempt_details`: "delivery id number" -> detail.
"""
_PLAIN: Final = b"\0"
_DEFLATED: Final = b"\1"
_DEFLATED_FROM: Final = 512
"""Bytes; shorter values gain little."""


class Unreadable(Exception):
    """A value does not decrypt under the key of its recipient: the file is damaged."""


def seal(batch: pa.RecordBatch) -> pa.Array:
    """Encrypt the personal values of a batch sorted by recipient."""
    nonces = os.urandom(NONCE_BYTES * batch.num_rows)
    sealed: list[bytes] = []
    last, cipher = None, AESGCM(os.urandom(KEY_BYTES))
    columns = ("id", "recipient_id", "person_key", "personal")
    rows = zip(*(batch.column(name).to_pylist() for name in columns), strict=True)
    for place, (id_, recipient, key, text) in enumerate(rows):
        if recipient != last:
            last, cipher = recipient, _cipher(key, recipient)
        nonce = nonces[place * NONCE_BYTES : (place + 1) * NONCE_BYTES]
        sealed.append(nonce + cipher.encrypt(nonce, _pack(text.encode()), id_.encode()))
    return pa.array(sealed, pa.binary())


def _cipher(key: str | None, recipient: int) -> AESGCM:
    if key is None:
        return AESGCM(os.urandom(KEY_BYTES))
    return AESGCM(archive_keys.unwrap(bytes.fromhex(key), recipient))


def _pack(text: bytes) -> bytes:
    return _PLAIN + text if len(text) < _DEFLATED_FROM else _DEFLATED + zlib.compress(text, 1)


def open_sealed(sealed: bytes, id_: str, cipher: AESGCM) -> bytes:
    """Decrypt the value of a notification; returns the JSON array.

    Raises:
        Unreadable: another key, another notification, or damaged bytes.
    """
    try:
        packed = cipher.decrypt(sealed[:NONCE_BYTES], sealed[NONCE_BYTES:], id_.encode())
    except InvalidTag as error:
        raise Unreadable(f"the personal values of notification {id_} do not decrypt") from error
    return zlib.decompress(packed[1:]) if packed[:1] == _DEFLATED else packed[1:]


def count_readable(batch: pa.RecordBatch) -> int:
    """Decrypt all values of a batch; returns the number of values of recipients with a key.

    Raises:
        Unreadable: a value does not decrypt under the key of its recipient.
    """
    recipients = batch.column("recipient_id").to_pylist()
    keys = archive_keys.of_recipients(set(recipients))
    last, cipher, opened = None, None, 0
    rows = zip(
        recipients,
        batch.column("id").to_pylist(),
        batch.column("personal").to_pylist(),
        strict=True,
    )
    for recipient, id_, sealed in rows:
        if recipient != last:
            last, cipher = recipient, AESGCM(keys[recipient]) if recipient in keys else None
        if cipher is not None:
            open_sealed(sealed, id_, cipher)
            opened += 1
    return opened


def values(sealed: bytes, id_: str, key: bytes | None) -> Mapping[str, Any] | None:
    """Return the personal values of a notification by name; None: the recipient was erased.

    Raises:
        Unreadable: as `open_sealed`.
    """
    if key is None:
        return None
    found: Sequence[Any] = orjson.loads(open_sealed(sealed, id_, AESGCM(key)))
    return dict(zip(NAMES, found, strict=False))  # files of earlier releases have fewer values


def key_hashes(producer_id: int, mode: int, idempotency_key: str) -> list[int]:
    """Return the keyed hash of an idempotency key under each configured key, current key first.

    The hash has 64 bits, as a signed number. A reader of the file cannot guess a key from it.
    """
    return [hash_key(producer_id, mode, idempotency_key, key) for key in archive_keys.hash_keys()]


def hash_key(producer_id: int, mode: int, idempotency_key: str, key: bytes) -> int:
    """Return the keyed hash of an idempotency key: 64 bits, as a signed number."""
    text = f"{producer_id} {mode} {idempotency_key}".encode()
    digest = hashlib.blake2b(text, key=key, digest_size=8).digest()
    return int.from_bytes(digest, "big", signed=True)
