"""What people type on a command line, as what it means.

Each of these is an argparse `type`. What it raises is shown to whoever typed it, so a wrong word is
answered with the right ones, and nothing that is typed ends in a traceback.
"""

from __future__ import annotations

import datetime as dt
import math
from argparse import ArgumentTypeError
from collections.abc import Callable
from typing import Final

from providers.contract import Channel

_LONGEST: Final = dt.timedelta(days=36_500)
"""A hundred years: any instant that far from now is a date."""
_MAX_ID: Final = 2**63 - 1
"""What a numbered row's column holds."""
_DIGITS: Final = 19
"""Of the same."""
_LONGEST_TEXT: Final = 100_000
"""Characters: what the API takes as a body, which is the longest."""


def channel(label: str) -> Channel:
    """A channel by its name.

    Raises:
        ArgumentTypeError: there is none of that name; these are.
    """
    try:
        return Channel.from_label(label)
    except KeyError:
        known = ", ".join(each.label for each in Channel)
        raise ArgumentTypeError(f"{label} is none of {known}") from None


def text(*, least: int = 0, most: int = _LONGEST_TEXT) -> Callable[[str], str]:
    """Text of so many characters that can be stored and sent."""

    def read(typed: str) -> str:
        if not least <= len(typed) <= most:
            raise ArgumentTypeError(f"it has {least} to {most} characters, not {len(typed)}")
        try:
            typed.encode()
        except UnicodeEncodeError:  # a byte that is none arrives as a surrogate
            raise ArgumentTypeError("it is not UTF-8") from None
        return typed

    return read


def row_id(typed: str) -> int:
    """The number of a row.

    Raises:
        ArgumentTypeError: no row can have it.
    """
    is_number = typed.isascii() and typed.isdigit() and len(typed) <= _DIGITS
    if not is_number or not 0 < int(typed) <= _MAX_ID:
        raise ArgumentTypeError(f"{typed!r} is no number of a row, like 4711")
    return int(typed)


def hours(typed: str) -> dt.timedelta:
    """A span in hours, like 1.5."""
    return _span(typed, dt.timedelta(hours=1))


def days(typed: str) -> dt.timedelta:
    """A span in days."""
    return _span(typed, dt.timedelta(days=1))


def _span(typed: str, unit: dt.timedelta) -> dt.timedelta:
    most = _LONGEST // unit
    try:
        number = float(typed)
    except ValueError:
        number = math.nan
    # Neither comparison holds for what is no number.
    if not 0 < number <= most:
        raise ArgumentTypeError(f"{typed!r} is no number above 0, up to {most}")
    return number * unit
