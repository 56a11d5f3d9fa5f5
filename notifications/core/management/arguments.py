"""Argument types for the command line (`type` of argparse).

An invalid argument raises ArgumentTypeError with the valid values; argparse prints the message.
"""

from __future__ import annotations

import datetime as dt
import math
from argparse import ArgumentTypeError
from collections.abc import Callable
from typing import Final

from providers.contract import Channel

_LONGEST: Final = dt.timedelta(days=36_500)
"""A hundred years; instants at this distance from now are still valid dates."""
_MAX_ID: Final = 2**63 - 1
"""The largest bigint."""
_DIGITS: Final = 19
"""Digits of `_MAX_ID`."""
_LONGEST_TEXT: Final = 100_000
"""Characters. The API takes no longer body."""


def channel(label: str) -> Channel:
    """Convert the name of a channel.

    Raises:
        ArgumentTypeError: unknown name; the message lists all names.
    """
    try:
        return Channel.from_label(label)
    except KeyError:
        known = ", ".join(each.label for each in Channel)
        raise ArgumentTypeError(f"unknown channel {label!r}; use one of {known}") from None


def text(*, least: int = 0, most: int = _LONGEST_TEXT) -> Callable[[str], str]:
    """Return a converter for text of `least` to `most` characters in UTF-8."""

    def read(typed: str) -> str:
        if not least <= len(typed) <= most:
            raise ArgumentTypeError(f"must have {least} to {most} characters, has {len(typed)}")
        try:
            typed.encode()
        except UnicodeEncodeError:  # Python decodes an invalid byte as a surrogate
            raise ArgumentTypeError("not valid UTF-8") from None
        return typed

    return read


def row_id(typed: str) -> int:
    """Convert the id of a row.

    Raises:
        ArgumentTypeError: the value is no positive bigint.
    """
    is_number = typed.isascii() and typed.isdigit() and len(typed) <= _DIGITS
    if not is_number or not 0 < int(typed) <= _MAX_ID:
        raise ArgumentTypeError(f"{typed!r} is not a valid id; use a positive number such as 4711")
    return int(typed)


def hours(typed: str) -> dt.timedelta:
    """Convert a duration in hours, such as 1.5."""
    return _span(typed, dt.timedelta(hours=1))


def days(typed: str) -> dt.timedelta:
    """Convert a duration in days."""
    return _span(typed, dt.timedelta(days=1))


def _span(typed: str, unit: dt.timedelta) -> dt.timedelta:
    most = _LONGEST // unit
    try:
        number = float(typed)
    except ValueError:
        number = math.nan
    # Both comparisons are False for NaN.
    if not 0 < number <= most:
        raise ArgumentTypeError(f"{typed!r} is not a number above 0 and up to {most}")
    return number * unit
