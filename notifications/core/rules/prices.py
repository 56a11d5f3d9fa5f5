"""Prices of provider calls in microdollars: millionths of a US dollar.

    1. a price of the country and the provider
    2. a price of the country
    3. a price of the provider
    4. a price of the channel
    5. `DEFAULTS`

The first match applies. A price applies from its day on, until the next price of the same provider,
channel and country. The unit of a price is an SMS segment, or a message on another channel.
"""

from __future__ import annotations

import datetime as dt
from bisect import bisect_right
from collections.abc import Iterable, Mapping
from types import MappingProxyType
from typing import Final, NamedTuple

from providers.contract import Channel

DEFAULTS: Final[Mapping[Channel, int]] = MappingProxyType({
    Channel.SMS: 10_000,
    Channel.EMAIL: 100,
})
"""Prices without a row: $0.01 an SMS segment and $0.10 for 1,000 mails. Other channels are free."""
MICROS: Final = 1_000_000
"""Microdollars of a dollar."""
_MOST_MICROS: Final = 100 * MICROS
"""No message costs more."""
_MOST_SEGMENTS: Final = 255
"""Parts of a concatenated SMS."""


class Price(NamedTuple):
    """A price from a day on."""

    channel: Channel
    provider: str
    """Empty: every provider."""
    country: str
    """ISO 3166-1 alpha-2, such as `DE`; empty: every country."""
    micros: int
    """Microdollars for each unit."""
    valid_from: dt.date
    """First UTC day."""


_Place = tuple[str, str]
"""Country and provider."""
_Steps = list[tuple[dt.date, int]]
"""First days and microdollars, in order."""


class PriceList:
    """The prices of an installation."""

    def __init__(self, prices: Iterable[Price] = ()) -> None:
        self._by_channel: dict[Channel, dict[_Place, _Steps]] = {}
        for each in sorted(prices, key=lambda price: (price.valid_from, price.micros)):
            places = self._by_channel.setdefault(each.channel, {})
            steps = places.setdefault((each.country, each.provider), [])
            steps.append((each.valid_from, each.micros))

    def unit(self, channel: Channel, *, provider: str, country: str, day: dt.date) -> int:
        """Return the microdollars of a unit on a UTC day."""
        places = self._by_channel.get(channel)
        if places is None:
            return DEFAULTS.get(channel, 0)
        for place in ((country, provider), (country, ""), ("", provider), ("", "")):
            steps = places.get(place, [])
            known = bisect_right(steps, day, key=lambda step: step[0])
            if known:
                return steps[known - 1][1]
        return DEFAULTS.get(channel, 0)


def possible_segments(count: int | None) -> int | None:
    """Return a provider's count of segments; None if the count is impossible."""
    return count if count is not None and 0 < count <= _MOST_SEGMENTS else None


def possible_micros(micros: int | None) -> int | None:
    """Return a provider's price in microdollars; None if the price is impossible."""
    return micros if micros is not None and 0 <= micros <= _MOST_MICROS else None


def settled_cost(
    estimate: int | None,
    *,
    segments: int | None,
    told_micros: int | None,
    told_segments: int | None,
) -> int | None:
    """Return the cost of a call by its receipt, in microdollars; None: the estimate stays.

    Args:
        estimate: the estimated cost of the call; None: the call is free or of an earlier release.
        segments: the segments of the estimate.
        told_micros: the price of the receipt.
        told_segments: the segments of the receipt, which count if the receipt has no price.
    """
    if estimate is None:
        return None
    if told_micros is not None:
        return told_micros
    return estimate * told_segments // segments if told_segments and segments else None


def dollars(micros: int) -> str:
    """Return an amount for people: `$1,234.50`, or `$0.0075` below ten cents."""
    if 0 < abs(micros) < MICROS // 10:
        return f"${micros / MICROS:.6f}".rstrip("0")
    return f"${micros / MICROS:,.2f}"
