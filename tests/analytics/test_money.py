"""An estimate weighs the prices of countries by their shares."""

from __future__ import annotations

import pytest

from notifications.analytics import money
from notifications.models import Price
from notifications.store.cached import prices
from providers.contract import Channel

pytestmark = pytest.mark.django_db


@pytest.fixture(autouse=True)
def _prices() -> None:
    for country, micros in {"DE": 80_000, "US": 8_000}.items():
        Price.objects.create(
            channel=Channel.SMS, country=country, micros=micros, valid_from="2026-01-01"
        )
    prices.forget()


def test_the_shares_of_countries_weigh_their_prices() -> None:
    shares = {"DE": 1.0, "US": 3.0}
    assert money.estimate(Channel.SMS, count=400, countries=shares) == 100 * 80_000 + 300 * 8_000
    twice = money.estimate(Channel.SMS, count=400, countries=shares, segments=2)
    assert twice == 2 * (100 * 80_000 + 300 * 8_000)


@pytest.mark.parametrize("shares", [None, {}, {"DE": 0.0}])
def test_without_shares_the_price_without_a_country_applies(
    shares: dict[str, float] | None,
) -> None:
    assert money.estimate(Channel.SMS, count=100, countries=shares) == 100 * 10_000


def test_a_channel_without_countries_has_one_price() -> None:
    assert money.estimate(Channel.EMAIL, count=1_000) == 100_000
    assert money.estimate(Channel.PUSH, count=1_000) == 0
