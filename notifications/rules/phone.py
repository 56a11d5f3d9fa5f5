"""Phone numbers: how they are stored, and what they tell of where a person is.

A number is judged by its length alone: the ranges that are in use change every month, and a
customer with a new one must not be refused. So numbers that no network has given out pass, too,
such as those that steer the sandbox. A number that can be dialled only from its own area is
refused.

The library knows which country and area a number is of. Parsing takes a tenth of a millisecond, its
tables of zones some megabytes: both are for the doors where a number is entered, never for a send.
"""

from __future__ import annotations

import datetime as dt
import re
from typing import Final

import phonenumbers
from phonenumbers import timezone as number_zones

from notifications.rules.times import local_time

_WRITTEN: Final = re.compile(r"\+[0-9][0-9 ().\-/]{2,30}")
"""The library would find a number in almost any text."""
_SHORTEST_DIGITS: Final = 7
"""Country code included, as the smallest islands have them. The library takes German numbers of
two digits for possible, and a short code answers no STOP."""
_NO_NUMBER: Final = "+15550000"
"""Reserved for fiction, and local in form: the sandbox's number that no provider takes."""
_WINTER: Final = dt.datetime(2026, 1, 15, tzinfo=dt.UTC)
"""An instant at which zones are put in order."""


def e164(written: str) -> str:
    """A number as it is stored: `+49 (151) 123-45678` is `+4915112345678`.

    Raises:
        ValueError: it is no number that can be dialled from anywhere.
    """
    if not _WRITTEN.fullmatch(written):
        raise ValueError(_WANTED)
    try:
        number = phonenumbers.parse(written)
    except phonenumbers.NumberParseException as error:
        raise ValueError(_WANTED) from error
    spelled = phonenumbers.format_number(number, phonenumbers.PhoneNumberFormat.E164)
    if spelled == _NO_NUMBER:
        return spelled
    length = phonenumbers.is_possible_number_with_reason(number)
    if length != phonenumbers.ValidationResult.IS_POSSIBLE or len(spelled) <= _SHORTEST_DIGITS:
        raise ValueError(_WANTED)
    return spelled


_WANTED: Final = "a phone number has its country code and all digits, like +4915112345678"


def zone_of(number: str) -> str:
    """The timezone that a stored number suggests; empty where it suggests none.

    Of a country with several it is that of the number's area, or of the country's main city. A
    number that may be of any area gets the one in the middle, which is wrong by the fewest hours.
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


def _winter_offset(name: str) -> tuple[dt.timedelta, str]:
    offset = _WINTER.astimezone(local_time.zone(name)).utcoffset() or dt.timedelta(0)
    return offset, name
