"""Redaction of addresses and provider answers in logs and attempts.

An operator can follow one address through the logs, but the logs are no list of customers.
"""

from __future__ import annotations

import hashlib
import re
from collections.abc import Iterable
from typing import Final

from notifications.core.rules.storable_texts import storable
from providers import graphemes

CODE_LENGTH: Final = 200
"""Characters kept of the code of a provider's answer or receipt."""
DETAIL_LENGTH: Final = 500
"""Characters kept of a provider's answer."""
_HASH_BYTES: Final = 8
_LONG_DIGITS: Final = re.compile(r"\+?\d(?:[\s\-()./\u2010-\u2015]{0,3}\d){7,}")
_DIGITS: Final = re.compile(r"\+?\d{8,}")
"""A number in a code. Codes have groups of digits: `550 5.7.515`."""
_MAILBOX: Final = re.compile(
    r"[^\s<>\"@]+?(?:@|%40|&#64;|&#x40;|&commat;)[^\s<>\"'@]+", re.IGNORECASE
)
"""With the sign as a text, a URL or HTML spells it."""
_TOKENLIKE: Final = re.compile(r"[A-Za-z0-9_\-:+/=.]{32,}")


def address_hash(address: str, *, key: bytes) -> str:
    """Return a keyed hash of an address: equal for equal addresses, useless without the key."""
    return address_hashes([address], key=key)[0]


def address_hashes(addresses: Iterable[str], *, key: bytes) -> list[str]:
    """Return the hashes of addresses, as `address_hash`."""
    return [
        hashlib.blake2b(each.encode(), key=key, digest_size=_HASH_BYTES).hexdigest()
        for each in addresses
    ]


def redact(text: str) -> str:
    """Remove addresses and tokens from a provider's answer, and cut it to DETAIL_LENGTH."""
    text = _MAILBOX.sub("<mailbox>", text[: 4 * DETAIL_LENGTH])
    text = _LONG_DIGITS.sub("<number>", text)
    return graphemes.cut(_TOKENLIKE.sub("<token>", text), DETAIL_LENGTH)


def code_of(text: str) -> str:
    """Return the code of a provider's answer or receipt on one line, without an address.

    A code may be as long as a token, such as the name of an exception, so tokens stay. At most
    CODE_LENGTH characters that JSON and Postgres take.
    """
    line = " ".join(storable(text[: 4 * CODE_LENGTH]).split())
    line = "".join(each for each in line if each.isprintable())
    return graphemes.cut(_DIGITS.sub("<number>", _MAILBOX.sub("<mailbox>", line)), CODE_LENGTH)
