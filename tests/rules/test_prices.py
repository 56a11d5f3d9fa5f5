"""The most specific price of the day applies."""

from __future__ import annotations

import datetime as dt

import pytest

from notifications.core.rules.prices import Price, PriceList, dollars, settled_cost
from providers.contract import Channel

FIRST = dt.date(2026, 1, 1)
MAY = dt.date(2026, 5, 1)


def _price(micros: int, country: str = "", provider: str = "", day: dt.date = FIRST) -> Price:
    return Price(Channel.SMS, provider, country, micros, day)


def _of(prices: PriceList, provider: str, country: str, day: dt.date = MAY) -> int:
    return prices.unit(Channel.SMS, provider=provider, country=country, day=day)


def test_a_channel_without_a_price_has_the_default() -> None:
    prices = PriceList()
    assert _of(prices, "twilio", "DE") == 10_000
    assert prices.unit(Channel.EMAIL, provider="", country="", day=MAY) == 100
    assert prices.unit(Channel.PUSH, provider="", country="", day=MAY) == 0


def test_the_country_goes_before_the_provider() -> None:
    prices = PriceList([
        _price(1),
        _price(2, provider="twilio"),
        _price(3, country="DE"),
        _price(4, country="DE", provider="twilio"),
    ])
    assert _of(prices, "twilio", "DE") == 4
    assert _of(prices, "vonage", "DE") == 3
    assert _of(prices, "twilio", "FR") == 2
    assert _of(prices, "vonage", "FR") == 1
    assert _of(prices, "", "") == 1


def test_a_price_applies_from_its_day_to_the_next_price() -> None:
    prices = PriceList([_price(7, day=MAY), _price(5)])
    assert _of(prices, "", "", dt.date(2025, 12, 31)) == 10_000
    assert _of(prices, "", "", FIRST) == 5
    assert _of(prices, "", "", dt.date(2026, 4, 30)) == 5
    assert _of(prices, "", "", MAY) == 7


def test_a_specific_price_of_the_future_leaves_the_general_one() -> None:
    prices = PriceList([_price(5), _price(9, country="DE", day=dt.date(2027, 1, 1))])
    assert _of(prices, "twilio", "DE") == 5


@pytest.mark.parametrize(
    ("micros", "text"),
    [(0, "$0.00"), (7_500, "$0.0075"), (100, "$0.0001"), (1_234_500_000, "$1,234.50")],
)
def test_an_amount_is_written_for_people(micros: int, text: str) -> None:
    assert dollars(micros) == text


@pytest.mark.parametrize(
    ("told", "cost"),
    [
        ({"told_micros": 25_000, "told_segments": 9}, 25_000),
        ({"told_micros": 0}, 0),
        ({"told_segments": 3}, 30_000),
        ({"told_segments": 1}, 10_000),
        ({}, None),
    ],
)
def test_a_receipt_settles_the_cost(told: dict[str, int], cost: int | None) -> None:
    known = {"told_micros": None, "told_segments": None, **told}
    assert settled_cost(20_000, segments=2, **known) == cost
    assert settled_cost(None, segments=2, **known) is None


def test_segments_settle_no_call_of_unknown_segments() -> None:
    assert settled_cost(20_000, segments=None, told_micros=None, told_segments=2) is None
