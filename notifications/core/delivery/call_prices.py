"""Prices of provider calls in microdollars: reserved by a feature, or else of the price list."""

from __future__ import annotations

from notifications.core.delivery.claimed import ClaimedDelivery
from notifications.core.rules import phone
from notifications.core.store.cached import prices
from providers.contract import Accepted, Channel, Outcome


def country_of(claimed: ClaimedDelivery) -> str:
    """Return the country of the price: of a text message's number, empty on other channels."""
    is_text = claimed.delivery.channel is Channel.SMS
    return phone.country_of(claimed.destination.address) if is_text else ""


def price_of(claimed: ClaimedDelivery, provider: str) -> int:
    """Return the price of a call in microdollars: the reserved price, or else the present one."""
    if claimed.reserved is not None:
        return claimed.reserved
    return prices.price_of(
        claimed.delivery.channel,
        provider=provider,
        country=country_of(claimed),
        segments=claimed.segments or 1,
    )


def segments_of(claimed: ClaimedDelivery, outcome: Outcome) -> int | None:
    """Return the segments of a text by the provider's answer, or else by our count."""
    told = outcome.segments if isinstance(outcome, Accepted) else None
    return told if told and claimed.segments else claimed.segments


def price_by_answer(claimed: ClaimedDelivery, provider: str, outcome: Outcome) -> int:
    """Return the price of a call with the segments of the answer, in microdollars."""
    # A price is a price of a segment, multiplied by the segments, so the division is exact.
    unit = price_of(claimed, provider) // (claimed.segments or 1)
    return unit * (segments_of(claimed, outcome) or 1)
