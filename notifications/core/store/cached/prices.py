"""Prices, read once a second per process."""

from __future__ import annotations

import datetime as dt

from notifications.core import clock
from notifications.core.models import Price
from notifications.core.rules import prices
from notifications.core.rules.prices import PriceList
from notifications.core.store.cached.ttl_cache import Fresh
from providers.contract import Channel


@Fresh
def every() -> PriceList:
    """Return the price list."""
    rows = Price.objects.values_list("channel", "provider", "country", "micros", "valid_from")
    return PriceList(
        prices.Price(Channel(channel), provider, country, micros, valid_from)
        for channel, provider, country, micros, valid_from in rows
    )


forget = every.forget


def price_of(
    channel: Channel,
    *,
    provider: str = "",
    country: str = "",
    segments: int = 1,
    day: dt.date | None = None,
) -> int:
    """Return the price of a message in microdollars.

    Args:
        channel: the channel of the message.
        provider: name of the provider; empty: unknown.
        country: ISO 3166-1 alpha-2 country of an SMS number; empty: unknown.
        segments: SMS segments; 1 on other channels.
        day: UTC day of the call; None: today.
    """
    when = day or clock.now().date()
    return segments * every().unit(channel, provider=provider, country=country, day=when)
