"""Phone numbers: stored form and timezone.

A number is judged by its length alone, because ranges in use change every month; so unassigned
numbers pass, such as the sandbox's. A number without an area code is refused.

Parsing takes a tenth of a millisecond and some megabytes of tables, so numbers are parsed at the
entry and never in a send.
"""

from __future__ import annotations

import datetime as dt
import functools
import re
from typing import Final

import phonenumbers
from phonenumbers import timezone as number_zones

from notifications.core.rules.times import local_time

_WRITTEN: Final = re.compile(r"\+[0-9][0-9 ().\-/]{2,30}")
"""The library would find a number in almost any text."""
_SEPARATORS: Final = {
    **dict.fromkeys(map(ord, "\u00a0\u1680\u202f\u205f\u3000"), " "),
    **dict.fromkeys(range(0x2000, 0x200B), " "),
    **dict.fromkeys([*range(0x2010, 0x2016), 0x2212], "-"),
}
"""Spaces and hyphens as word processors and web pages write them."""
_DOUBLE: Final = (
    (re.compile(r"\+521(\d{10})"), r"+52\1"),
    (re.compile(r"\+54([1-3]\d{9})"), r"+549\1"),
    (re.compile(r"\+55([1-9]{2})([689]\d{7}|7[1-6]\d{6})"), r"+55\g<1>9\2"),
)
"""Second spellings of mobile numbers, and the spelling of today's numbering plan. Mexico dropped
the 1 in 2019. A number of Argentina without the 9 is a landline, which takes no SMS. Brazil put a 9
before each mobile number by 2016, except the trunked radio of 70, 77, 78 and 79. The database
function `suppressible` has the same patterns."""
_SHORTEST_DIGITS: Final = 7
"""With country code. The library accepts German numbers of two digits, and a short code answers no
STOP."""
_NO_NUMBER: Final = "+15550000"
"""The sandbox's number that no provider takes: reserved for fiction, and local in form."""
UNKNOWN_COUNTRY: Final = "??"
"""Country of satellite numbers and of unassigned ranges."""
_WINTER: Final = dt.datetime(2026, 1, 15, tzinfo=dt.UTC)
"""Instant for sorting zones."""


def e164(written: str) -> str:
    """Return a number in the stored form: `+49 (151) 123-45678` becomes `+4915112345678`.

    A mobile number of Mexico, Argentina or Brazil has one of two spellings; see `one_spelling`. The
    stored form of a stored number is the number.

    Raises:
        ValueError: the number is not an international number.
    """
    number = _read(written)
    if number != written and _read(number) != number:
        # The library drops one 0 of `+49 00 30...` each time that it reads the number.
        raise ValueError(_WANTED)
    return number


def _read(written: str) -> str:
    written = written.translate(_SEPARATORS)
    if not _WRITTEN.fullmatch(written):
        raise ValueError(_WANTED)
    compact = "+" + re.sub(r"\D", "", written)
    today = one_spelling(compact)
    try:
        number = phonenumbers.parse(written if today == compact else today)
    except phonenumbers.NumberParseException as error:
        raise ValueError(_WANTED) from error
    spelled = phonenumbers.format_number(number, phonenumbers.PhoneNumberFormat.E164)
    if spelled == _NO_NUMBER:
        return spelled
    length = phonenumbers.is_possible_number_with_reason(number)
    if length != phonenumbers.ValidationResult.IS_POSSIBLE or len(spelled) <= _SHORTEST_DIGITS:
        raise ValueError(_WANTED)
    return one_spelling(spelled)


def one_spelling(number: str) -> str:
    """Return a number in E.164, the same for two spellings.

    `+5215512345678` and `+525512345678` are one phone, as are `+541112345678` and `+5491112345678`,
    `+551187654321` and `+5511987654321`. Another text is returned as it is.
    """
    if number.startswith("+5"):
        for second, first in _DOUBLE:
            if second.fullmatch(number):
                return second.sub(first, number)
    return number


_WANTED: Final = "a phone number has its country code and all digits, like +4915112345678"


def zone_of(number: str) -> str:
    """Return the timezone of a stored number; empty if it is unknown.

    For a country with several zones it is that of the number's area, else the middle zone, which is
    wrong by the fewest hours.
    """
    try:
        parsed = phonenumbers.parse(number)
    except phonenumbers.NumberParseException:
        return ""
    if number_zones.UNKNOWN_TIMEZONE in number_zones.time_zones_for_number(parsed):
        return ""
    found = number_zones.time_zones_for_geographical_number(parsed)
    known = sorted(filter(local_time.is_zone, found), key=_winter_offset)
    return known[(len(known) - 1) // 2] if known else ""


def country_or_unknown(number: str) -> str:
    """Return the country of a stored number, such as `DE`, or `UNKNOWN_COUNTRY`."""
    return country_of(number) or UNKNOWN_COUNTRY


def country_of(number: str) -> str:
    """Return the country of a stored number, such as `DE`; empty if it is unknown.

    Fast enough for a send: the country code decides, and numbers of shared country codes (+1, +44)
    are parsed once for each beginning.
    """
    digits = number.removeprefix("+")
    if not digits.isdigit():
        return ""
    for length in (1, 2, 3):
        regions = phonenumbers.COUNTRY_CODE_TO_REGION_CODE.get(int(digits[:length]), ())
        if len(regions) == 1:
            return "" if regions[0] == _NO_COUNTRY else regions[0]
        if regions:
            return _country_of_range(number[:_RANGE_DIGITS].ljust(len(number), "0"))
    return ""


@functools.lru_cache(maxsize=10_000)
def _country_of_range(number: str) -> str:
    try:
        found = phonenumbers.region_code_for_number(phonenumbers.parse(number))
    except phonenumbers.NumberParseException:
        return ""
    return found or ""


_NO_COUNTRY: Final = "001"
"""The region of satellite and other international numbers."""
_RANGE_DIGITS: Final = 9
"""Plus sign, country code and the digits that tell countries of a shared code apart."""


def _winter_offset(name: str) -> tuple[dt.timedelta, str]:
    offset = _WINTER.astimezone(local_time.zone(name)).utcoffset() or dt.timedelta(0)
    return offset, name
