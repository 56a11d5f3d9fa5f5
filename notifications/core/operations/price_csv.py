"""Import of prices as CSV.

    channel,country,provider,price_usd,valid_from
    sms,DE,twilio,0.0895,2026-12-01
    email,,,0.0001,

`channel` and `price_usd` are required. An empty country or provider stands for all, an empty
`valid_from` for today in UTC. A file with a wrong line imports no price. A second import of a file
changes nothing.
"""

from __future__ import annotations

import csv
import datetime as dt
import io
import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from decimal import Decimal
from typing import Final

from notifications.core import clock
from notifications.core.models import Price
from notifications.core.rules.csv_lines import unescape
from notifications.core.rules.prices import MICROS
from providers.contract import Channel

COLUMNS: Final = ("channel", "country", "provider", "price_usd", "valid_from")
MAX_FAULTS: Final = 100
"""Most wrong lines in an error."""
_MOST_DOLLARS: Final = 1_000
"""A higher price of a message is a typing error."""
_COUNTRY: Final = re.compile(r"[A-Z]{2}")
_PROVIDER: Final = re.compile(r"[a-z0-9_.-]{1,32}")


@dataclass(frozen=True, slots=True)
class WrongLine:
    """A wrong line of the file."""

    line: int
    detail: str


class InvalidPrices(ValueError):
    """The file was not imported. The error has up to 100 wrong lines."""

    def __init__(self, faults: list[WrongLine]) -> None:
        """Keep the wrong lines."""
        super().__init__("; ".join(f"line {each.line}: {each.detail}" for each in faults))
        self.faults = faults


def import_text(text: str) -> int:
    """Import the prices of a file, all or none; returns the number of prices.

    Raises:
        InvalidPrices: the file has a wrong line.
    """
    rows: list[Price] = []
    faults: list[WrongLine] = []
    lines = csv.reader(io.StringIO(text.removeprefix("\ufeff")), strict=True)
    try:
        for number, given in _lines(lines):
            try:
                rows.append(_price(given))
            except ValueError as error:
                faults.append(WrongLine(number, str(error)))
    except csv.Error as error:
        faults.append(WrongLine(lines.line_num, f"invalid CSV: {error}"))
    if faults:
        raise InvalidPrices(faults[:MAX_FAULTS])
    # The last line of a provider, channel, country and day applies, as with two imports.
    places = ("channel", "country", "provider", "valid_from")
    unique = {tuple(getattr(row, name) for name in places): row for row in rows}
    Price.objects.bulk_create(
        unique.values(), update_conflicts=True, unique_fields=places, update_fields=["micros"]
    )
    return len(unique)


def _lines(lines: Iterator[list[str]]) -> Iterator[tuple[int, Mapping[str, str]]]:
    names = next(lines, [])
    if not {"channel", "price_usd"} <= set(names):
        raise csv.Error("the first line must name the columns, channel and price_usd among them")
    for number, cells in enumerate(lines, start=2):
        if cells:
            yield number, dict(zip(names, cells, strict=False))


def _price(given: Mapping[str, str]) -> Price:
    values = {name: unescape(given.get(name, "").strip()) for name in COLUMNS}
    try:
        channel = Channel.from_label(values["channel"])
    except KeyError:
        known = ", ".join(each.label for each in Channel)
        raise ValueError(f"channel must be one of {known}") from None
    if values["country"] and not _COUNTRY.fullmatch(values["country"]):
        raise ValueError("country must be two capital letters such as DE, or empty")
    if values["provider"] and not _PROVIDER.fullmatch(values["provider"]):
        raise ValueError("provider must be a provider's name in small letters, or empty")
    return Price(
        channel=channel,
        country=values["country"],
        provider=values["provider"],
        micros=_micros(values["price_usd"]),
        valid_from=_day(values["valid_from"]),
    )


def _micros(text: str) -> int:
    try:
        micros = Decimal(text) * MICROS
    except ArithmeticError:  # no number, or beyond the range of the type
        raise ValueError(_WANTED) from None
    # A comparison with NaN raises an error, so finiteness comes first.
    if not micros.is_finite() or not 0 <= micros <= _MOST_DOLLARS * MICROS or micros % 1:
        raise ValueError(_WANTED)
    return int(micros)


_WANTED: Final = "price_usd must be dollars from 0 to 1000 with up to six decimal places"


def _day(text: str) -> dt.date:
    try:
        return dt.date.fromisoformat(text) if text else clock.now().date()
    except ValueError:
        raise ValueError("valid_from must be a day such as 2026-12-01, or empty") from None
