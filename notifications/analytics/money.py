"""Estimates of what messages will cost, for dry runs.

An estimate multiplies each country's share of the text messages by the price of the country.
Without given shares, the countries of the last 28 days of live text messages have their shares by
number of calls; without text messages in that time, the price without a country applies.
"""

from __future__ import annotations

import datetime as dt
from collections.abc import Mapping
from typing import Final

from notifications import clock
from notifications.analytics.questions import Question, ask
from notifications.rules.rollups import Dimension, Step
from notifications.store.cached import prices
from providers.contract import Channel

_HISTORY: Final = dt.timedelta(days=28)


def estimate(
    channel: Channel,
    *,
    count: int,
    segments: int = 1,
    provider: str = "",
    countries: Mapping[str, float] | None = None,
) -> int:
    """Return the estimated cost of messages in microdollars.

    Args:
        channel: the channel of all messages.
        count: number of messages.
        segments: SMS segments of each text message; 1 on other channels.
        provider: name of the provider; empty: unknown.
        countries: country to share of the messages, of any sum above 0; an empty country stands for
            an unknown one. None: the shares of the last 28 days.
    """
    shares = countries if countries is not None else country_shares(channel)
    whole = sum(shares.values())
    if whole <= 0:
        shares, whole = {"": 1.0}, 1.0
    means = (
        share * prices.price_of(channel, provider=provider, country=country, segments=segments)
        for country, share in shares.items()
    )
    return round(count * sum(means) / whole)


def country_shares(channel: Channel) -> dict[str, float]:
    """Return the calls of the last 28 days by country of the number; empty for other channels."""
    if channel is not Channel.SMS:
        return {}
    now = clock.now()
    question = Question(
        metric="calls",
        start=Step.DAY.floor(now - _HISTORY),
        end=now,
        by=(Dimension.COUNTRY,),
        step=Step.DAY,
        filters={Dimension.CHANNEL: int(channel)},
    )
    return {str(each.key[0]): each.total for each in ask(question).groups if each.total}
