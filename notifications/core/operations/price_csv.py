"""Import of prices as CSV.

    channel,country,provider,price_usd,valid_from
    sms,DE,twilio,0.0895,2026-12-01
    email,,,0.0001,

`channel` and `price_usd` are required. An empty country or provider stands for all, an empty
`valid_from` for today in UTC. A file with a wrong line imports no price. A second import of a file
changes nothing.
"""

from __future__ import annotations

import datetime as dt
import re
from collections.abc import Mapping
from decimal import Decimal
from typing import Final

from notifications.core import clock
from notifications.core.models import Price
from notifications.core.rules.csv_lines import unescape
from notifications.core.rules.csv_reader import BadRecord, ByteStream, CsvReader, Record
from notifications.core.rules.prices import MICROS
from providers.contract import Channel

COLUMNS: Final = ("channel", "country", "provider", "price_usd", "valid_from")
MAX_FAULTS: Final = 100
"""Most wrong lines in an error."""
_MOST_DOLLARS: Final = 1_000
"""A higher price of a message is a typing error."""
_COUNTRY: Final = re.compile(r"[A-Z]{2}")
_PROVIDER: Final = re.compile(r"[a-z0-9_.-]{1,32}")


class InvalidPrices(ValueError):
    """No price was imported; the message has up to MAX_FAULTS wrong lines."""


def import_file(stream: ByteStream) -> int:
    """Import the prices of a file, all or none; returns the number of prices.

    Raises:
        InvalidFile: the file is no CSV with the required columns.
        InvalidPrices: a line is wrong.
    """
    rows: list[Price] = []
    faults: list[str] = []
    reader = CsvReader(stream, required=("channel", "price_usd"), known=COLUMNS)
    for record in reader:
        if isinstance(record, BadRecord):
            faults.append(f"line {record.number}: {record.detail}")
            continue
        try:
            rows.append(_price(_cells_by_name(record, reader.names)))
        except ValueError as error:
            faults.append(f"line {record.number}: {error}")
    if faults:
        raise InvalidPrices("; ".join(faults[:MAX_FAULTS]))
    # The last line of a provider, channel, country and day applies, as with two imports.
    places = ("channel", "country", "provider", "valid_from")
    unique = {tuple(getattr(row, name) for name in places): row for row in rows}
    Price.objects.bulk_create(
        unique.values(), update_conflicts=True, unique_fields=places, update_fields=["micros"]
    )
    return len(unique)


def _cells_by_name(record: Record, names: list[str]) -> dict[str, str]:
    # With commas between the cells, the price 0,0895 would be the price 0 and a further cell.
    if len(record.cells) > len(names):
        raise ValueError(
            f"has {len(record.cells)} cells, and the first line names {len(names)} columns"
        )
    return dict(zip(names, record.cells, strict=False))


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
