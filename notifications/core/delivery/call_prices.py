"""Prices of provider calls in microdollars: reserved by a feature, or else of the price list."""

from __future__ import annotations

from notifications.core.delivery.claimed import ClaimedDelivery
from notifications.core.rules import phone
from notifications.core.store.cached import prices
from providers.contract import Accepted, Channel, Outcome


def segments_of(claimed: ClaimedDelivery, outcome: Outcome) -> int | None:
    """Return the segments of a text by the provider's answer, or else by our count."""
    told = outcome.segments if isinstance(outcome, Accepted) else None
    return told if told and claimed.segments else claimed.segments


class Prices:
    """The prices of the calls of a moment at a provider: each unit is looked up once."""

    def __init__(self, provider: str) -> None:
        self._provider = provider
        self._units: dict[tuple[Channel, str], int] = {}
        """By channel and country: of a text message's number, empty on other channels."""

    def of(self, claimed: ClaimedDelivery, segments: int | None) -> int:
        """Return the price of a call in microdollars: the reserved price, or else the present.

        Args:
            claimed: the delivery.
            segments: of a text message; None on other channels.
        """
        if claimed.reserved is not None:
            # A price is a price of a segment, multiplied by the segments: the division is exact.
            return claimed.reserved // (claimed.segments or 1) * (segments or 1)
        channel = claimed.delivery.channel
        is_text = channel is Channel.SMS
        country = phone.country_of(claimed.destination.address) if is_text else ""
        unit = self._units.get((channel, country))
        if unit is None:
            unit = prices.price_of(channel, provider=self._provider, country=country)
            self._units[channel, country] = unit
        return unit * (segments or 1)
