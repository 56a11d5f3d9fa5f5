"""Redaction of addresses and provider answers in logs and attempts.

An operator can follow one address through the logs, but the logs are no list of customers.
"""

from __future__ import annotations

import hashlib
import re
from typing import Final

from providers import graphemes

DETAIL_LENGTH: Final = 500
"""Characters kept of a provider's answer."""
_HASH_BYTES: Final = 8
_LONG_DIGITS: Final = re.compile(r"\+?\d(?:[\s\-()./\u2010-\u2015]{0,3}\d){7,}")
_MAILBOX: Final = re.compile(
    r"[^\s<>\"@]+?(?:@|%40|&#64;|&#x40;|&commat;)[^\s<>\"'@]+", re.IGNORECASE
)
"""With the sign as a text, a URL or HTML spells it."""
_TOKENLIKE: Final = re.compile(r"[A-Za-z0-9_\-:+/=.]{32,}")


def address_hash(address: str, *, key: bytes) -> str:
    """Return a keyed hash of an address: equal for equal addresses, useless without the key."""
    hashed = hashlib.blake2b(address.encode(), key=key, digest_size=_HASH_BYTES)
    return hashed.hexdigest()


def redact(text: str) -> str:
    """Remove addresses and tokens from a provider's answer, and cut it to DETAIL_LENGTH."""
    text = _MAILBOX.sub("<mailbox>", text[: 4 * DETAIL_LENGTH])
    text = _LONG_DIGITS.sub("<number>", text)
    return graphemes.cut(_TOKENLIKE.sub("<token>", text), DETAIL_LENGTH)
