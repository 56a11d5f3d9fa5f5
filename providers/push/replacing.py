"""The key by which a later message replaces an earlier message, in each vendor's form.

The key is the producer's `collapse_key`, or else the notification's id: a message then replaces
only repeats of the same notification. Repeats have the same key, so the device shows one message.
"""

from __future__ import annotations

from base64 import urlsafe_b64encode
from hashlib import sha256
from string import ascii_letters, digits
from typing import Final

from providers.contract import Message

COLLAPSE_ID_BYTES: Final = 64
"""Apple's limit for `apns-collapse-id`."""

TOPIC_CHARACTERS: Final = 32
"""RFC 8030, 5.4."""

WITHDRAW_KEY: Final = "notifications.withdraw"
"""Data field of a silent message that removes a shown message; the value is the tag."""

_BASE64URL: Final = frozenset(ascii_letters + digits + "-_")
_HASH_BYTES: Final = 16
"""22 characters of base64url: as unlikely to collide as two UUIDs."""


def tag(message: Message) -> str:
    """Return the key as any text, for a JSON field."""
    return message.collapse_key or str(message.notification_id)


def collapse_id(message: Message) -> str:
    """Return the key as a header of at most COLLAPSE_ID_BYTES; an unfit key is hashed."""
    text = tag(message)
    fits = len(text) <= COLLAPSE_ID_BYTES and text.isascii() and text.isprintable()
    if fits and text == text.strip():  # RFC 9113, 8.2.1: no white space at either end of a value
        return text
    return _hash(text)


def topic(message: Message) -> str:
    """Return the key as a Web Push Topic: base64url characters; an unfit key is hashed."""
    key = message.collapse_key
    if not key:
        return _base64url(message.notification_id.bytes)
    if len(key) <= TOPIC_CHARACTERS and _BASE64URL.issuperset(key):
        return key
    return _hash(key)


def _hash(text: str) -> str:
    return _base64url(sha256(text.encode(errors="surrogatepass")).digest()[:_HASH_BYTES])


def _base64url(raw: bytes) -> str:
    return urlsafe_b64encode(raw).rstrip(b"=").decode()
