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
_LONG_DIGITS: Final = r"\+?\d(?:[\s\-()./\u2010-\u2015]{0,3}\d){7,}"
_ALONE: Final = r"(?<![\w+.\-/])"
"""Before a kept text: no part of a number, such as a plus sign."""
_ENDS: Final = r"(?!\w|[./\-\u2010-\u2015]\d)"
"""After a kept text: no part of a number, such as a hyphen and a digit."""
_STATUS: Final = r"(?:(?P<class>[245])\d\d[ \-](?P=class)\.\d\.\d{1,3}|[245]\.\d{1,2}\.\d{1,2})"
"""Status codes of mail (RFC 5321 and RFC 3463, whose subjects have one digit): `550 5.7.515`."""
_TIME: Final = (
    r"(?:19|20)\d\d-(?:0[1-9]|1[0-2])-(?:0[1-9]|[12]\d|3[01])"
    r"(?:[T ](?:[01]\d|2[0-3]):[0-5]\d(?::[0-5]\d(?:[.,]\d{1,9})?)?(?:Z|[+\-]\d\d:?\d\d)?)?"
)
"""A date, or a time with its date, as ISO 8601 and SQL write them."""
_OCTET: Final = r"(?:25[0-5]|2[0-4]\d|1\d\d|[1-9]?\d)"
_IP: Final = rf"(?!\d\d\.\d\d\.\d\d\.\d\d\b){_OCTET}(?:\.{_OCTET}){{3}}"
"""An IPv4 address. Four pairs of digits may be a number."""
_NAMED: Final = (
    rf"\[{_IP}(?:\s+\d{{1,3}})?\]|\b(?:(?:IP|IP [Aa]ddress|[Hh]ost)[ :=]{{1,2}}{_IP}"
    rf"|[Vv]ersion[ :=]{{1,2}}\d{{1,5}}(?:\.\d{{1,5}}){{2,3}}){_ENDS}"
)
"""`[203.0.113.195]`, `IP 203.0.113.195`, `Version: 10.0.20348.1`. Without the brackets or the word
a number can look the same."""
_KEPT: Final = rf"(?P<kept>{_ALONE}(?:{_STATUS}|{_TIME}){_ENDS}|{_NAMED})"
_NUMBERS: Final = re.compile(rf"{_KEPT}|{_LONG_DIGITS}")
"""A number, or a text with as many digits that is none."""
_DIGITS: Final = re.compile(r"\+?\d{8,}")
"""A number in a code. Codes have groups of digits: `550 5.7.515`."""
_SIGN: Final = re.compile(r"@|%40|&#64;|&#x40;|&commat;", re.IGNORECASE)
"""The sign of a mailbox, as a text, a URL or HTML spells it."""
_RUN: Final = re.compile(r"[^\s<>\"]+")
"""A mailbox with what stands around it without a space."""
_TOKENLIKE: Final = re.compile(rf"{_KEPT}|[A-Za-z0-9_\-:+/=.]{{32,}}")


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
    """Remove addresses and tokens from a provider's answer, and cut it to DETAIL_LENGTH.

    Status codes of mail, dates, and named versions and IP addresses stay. Any other text with the
    digits of a phone number is removed, such as the number of an order.
    """
    text = _without_mailboxes(text[: 4 * DETAIL_LENGTH])
    text = _NUMBERS.sub(lambda found: found["kept"] or "<number>", text)
    text = _TOKENLIKE.sub(lambda found: found["kept"] or "<token>", text)
    return graphemes.cut(text, DETAIL_LENGTH)


def code_of(text: str) -> str:
    """Return the code of a provider's answer or receipt on one line, without an address.

    A code may be as long as a token, such as the name of an exception, so tokens stay. At most
    CODE_LENGTH characters that JSON and Postgres take.
    """
    line = " ".join(storable(text[: 4 * CODE_LENGTH]).split())
    line = "".join(each for each in line if each.isprintable())
    return graphemes.cut(_DIGITS.sub("<number>", _without_mailboxes(line)), CODE_LENGTH)


def _without_mailboxes(text: str) -> str:
    """Replace mailboxes, in a time that grows with the length alone."""
    if _SIGN.search(text) is None:
        return text
    return _RUN.sub(lambda found: _without_mailbox(found[0]), text)


def _without_mailbox(run: str) -> str:
    """Replace each mailbox from the end of the one before to a quote or the end of the run."""
    kept, begin = "", 0
    while sign := _SIGN.search(run, begin + 1):
        quote = run.find("'", sign.end())
        end = len(run) if quote < 0 else quote
        kept += "<mailbox>" if end > sign.end() else run[begin:end]
        begin = end
    return kept + run[begin:]
