"""A file of prices is imported as a whole or not at all."""

from __future__ import annotations

import datetime as dt
import io
from pathlib import Path

import pytest
from django.core.management import CommandError, call_command

from notifications.core.models import Price
from notifications.core.operations import price_csv
from notifications.core.operations.price_csv import InvalidPrices
from notifications.core.rules.csv_reader import InvalidFile
from notifications.core.store.cached import prices
from providers.contract import Channel

pytestmark = pytest.mark.django_db

FILE = """channel,country,provider,price_usd,valid_from
sms,DE,twilio,0.0895,2026-01-01
sms,,,0.0075,2026-01-01
email,,,0.0002,2026-01-01
"""


def _import(text: str) -> int:
    return price_csv.import_file(io.BytesIO(text.encode()))


def test_imported_prices_apply_to_calls() -> None:
    assert _import(FILE) == 3
    prices.forget()
    day = dt.date(2026, 2, 1)
    german = {"provider": "twilio", "country": "DE", "day": day}
    assert prices.price_of(Channel.SMS, **german, segments=2) == 179_000  # type: ignore[arg-type]  # mixed values
    assert prices.price_of(Channel.SMS, day=day) == 7_500
    assert prices.price_of(Channel.EMAIL, day=day) == 200


def test_a_second_import_changes_prices_and_adds_none() -> None:
    _import(FILE)
    assert _import(FILE.replace("0.0075", "0.008")) == 3
    assert Price.objects.count() == 3
    assert Price.objects.get(channel=Channel.SMS, country="").micros == 8_000


@pytest.mark.parametrize(
    ("line", "fault"),
    [
        ("fax,,,1,", "channel must be one of"),
        ("sms,de,,1,", "two capital letters"),
        ("sms,,Twilio!,1,", "provider's name"),
        ("sms,,,-1,", "dollars from 0 to 1000"),
        ("sms,,,NaN,", "dollars from 0 to 1000"),
        ("sms,,,0.0000001,", "six decimal places"),
        ("sms,,,1e9999999,", "dollars from 0 to 1000"),
        ("sms,,,0.01,yesterday", "a day such as"),
        ("sms", "dollars from 0 to 1000"),
    ],
)
def test_a_wrong_line_imports_nothing(line: str, fault: str) -> None:
    with pytest.raises(InvalidPrices, match=f"line 5: .*{fault}"):
        _import(FILE + line)
    assert not Price.objects.exists()


def test_a_decimal_comma_between_commas_imports_no_price_of_zero() -> None:
    with pytest.raises(InvalidPrices, match=r"line 2: has 3 cells"):
        _import("channel,price_usd\nsms,0,0895\n")
    assert not Price.objects.exists()


@pytest.mark.parametrize("text", ["", "price_usd\n1\n", 'channel,price_usd\n"sms,1\n'])
def test_a_file_that_is_no_table_of_prices_is_refused(text: str) -> None:
    with pytest.raises(InvalidFile):
        _import(text)


def test_the_command_loads_a_file(tmp_path: Path) -> None:
    file = tmp_path / "prices.csv"
    file.write_text(FILE)
    call_command("load_prices", str(file))
    assert Price.objects.count() == 3
    file.write_text(FILE + "fax,,,1,\n")
    with pytest.raises(CommandError, match="No price was loaded: line 5"):
        call_command("load_prices", str(file))
    with pytest.raises(CommandError, match="cannot be read"):
        call_command("load_prices", str(tmp_path / "gone.csv"))
