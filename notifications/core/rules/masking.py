"""Masking of addresses on the pages of operators: `m***@example.com`, `+49 *** 123`.

A support engineer can compare a masked address with the address of a caller, but cannot write to
the person. Pages, lists, CSV files and audit entries mask with this module. `rules.redaction`
serves logs, which show no part of an address.
"""

from __future__ import annotations

import re
from typing import Final
from urllib.parse import urlsplit

import phonenumbers

from providers.chat import whatsapp_number
from providers.contract import Channel

HIDDEN: Final = "***"
_LAST_DIGITS: Final = 3
_ENDS: Final = 4
"""Characters shown at the start and at the end of a token."""
_SHORTEST_TOKEN: Final = 6 * _ENDS
_SHORTEST_NUMBER: Final = 8
"""Digits; of a shorter number only the country code is shown."""
_AT: Final = re.compile(r"@|%40|&#64;|&#x40;|&commat;", re.IGNORECASE)
"""The sign in a text, in a URL and in HTML."""
_RUN: Final = r"[^\s<>\"@,;:()\[\]{}]"
_MAILBOX: Final = re.compile(
    rf"(?<!@)(?<!{_RUN})(?:@|{_RUN})+(?:{_AT.pattern}){_RUN}+", re.IGNORECASE
)
"""From the start of a run: a search from each character takes minutes for a long text."""
_GAP: Final = r"[^\S\r\n]{0,2}[\-().\/\u2010-\u2015]{0,2}[^\S\r\n]?"
_PLUS: Final = re.compile(r"\+|%2B|\b00(?=[1-9])", re.IGNORECASE)
_NUMBER: Final = re.compile(rf"(?:{_PLUS.pattern})\d(?:{_GAP}\(?\d\)?){{6,14}}", re.IGNORECASE)
_DIGITS: Final = re.compile(r"(?<![\w+*\-.])[1-9]\d{9,14}(?![\w\-.])")
"""A phone number without a plus, or another number."""


def mask(address: str, channel: Channel | int | None = None) -> str:
    """Return an address with the personal part replaced by `***`.

    Args:
        address: the address in any spelling; empty stays empty.
        channel: the channel of the address; None: the form of the address decides.
    """
    if not address:
        return ""
    if channel == Channel.EMAIL or (channel is None and "@" in address and "://" not in address):
        return _mailbox(address)
    if address.startswith(("http://", "https://")):
        return _url(address)
    number = address.removeprefix(whatsapp_number.PREFIX)
    if channel == Channel.SMS or number.startswith("+"):
        return address.removesuffix(number) + _number(number)
    if len(address) < _SHORTEST_TOKEN:
        return HIDDEN
    return f"{address[:_ENDS]}{HIDDEN}{address[-_ENDS:]}"


def mask_text(text: str) -> str:
    """Return a text with each e-mail address and each international phone number masked.

    The spellings of a URL (`%40`, `%2B`) and of HTML (`&#64;`) are masked too. Digits without a
    plus are masked if they are a valid phone number.
    """
    text = _MAILBOX.sub(lambda found: _mailbox(_AT.sub("@", found[0])), text)
    text = _NUMBER.sub(lambda found: _number(_PLUS.sub("", found[0], count=1)), text)
    return _DIGITS.sub(lambda found: _number(found[0]) if _is_phone(found[0]) else found[0], text)


def _is_phone(digits: str) -> bool:
    try:
        return phonenumbers.is_valid_number(phonenumbers.parse(f"+{digits}"))
    except phonenumbers.NumberParseException:
        return False


def _mailbox(address: str) -> str:
    local, _, domain = address.lstrip("'").rpartition("@")
    first = local[:1] if len(local) > 1 else ""
    return f"{first}{HIDDEN}@{domain}"


def _number(address: str) -> str:
    digits = re.sub(r"\D", "", address)
    code = _country_code(digits)
    if len(digits) < _SHORTEST_NUMBER:
        return f"{code} {HIDDEN}".strip()
    return f"{code} {HIDDEN} {digits[-_LAST_DIGITS:]}".strip()


def _country_code(digits: str) -> str:
    """Return the country calling code with `+`; empty: the digits begin with no code."""
    codes = phonenumbers.COUNTRY_CODE_TO_REGION_CODE
    for length in (1, 2, 3):
        if digits[:length].isdigit() and int(digits[:length]) in codes:
            return f"+{digits[:length]}"
    return ""


def _url(address: str) -> str:
    parts = urlsplit(address)
    return f"{parts.scheme}://{parts.hostname or HIDDEN}/{HIDDEN}"
