"""Reservations: a feature reserves the prices of calls before the start, and settles the prices.

    RESERVE           before a wave of calls    (batch, deliveries, *, provider) -> deliveries
    SETTLE            with the outcomes         (pairs) -> None
    SETTLE_RESCUED    with the rescued rows     (prices) -> {delivery: microdollars}

The settlements join the transaction of the outcomes. Without a feature each call goes, at the price
of the price list.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Final
from uuid import UUID

from notifications.core.delivery.batch import Batch
from notifications.core.delivery.claimed import ClaimedDelivery
from notifications.core.gate import Place, function_at
from providers.contract import Result

Reserve = Callable[..., Sequence[ClaimedDelivery]]
Settle = Callable[[Sequence[tuple[ClaimedDelivery, Result]]], None]
SettleRescued = Callable[[Mapping[UUID, int | None]], Mapping[UUID, int]]

RESERVE: Final[Sequence[Reserve]] = (*function_at(Place.RESERVE),)
SETTLE: Final[Sequence[Settle]] = (*function_at(Place.SETTLE),)
SETTLE_RESCUED: Final[Sequence[SettleRescued]] = (*function_at(Place.SETTLE_RESCUED),)


def reserve(
    batch: Batch, deliveries: Sequence[ClaimedDelivery], *, provider: str
) -> Sequence[ClaimedDelivery]:
    """Reserve the prices of calls; returns the deliveries that may be sent.

    Raises:
        OperationalError: the database failed; no call may begin.
    """
    for function in RESERVE:
        deliveries = function(batch, deliveries, provider=provider)
    return deliveries


def settle(pairs: Sequence[tuple[ClaimedDelivery, Result]]) -> None:
    """Settle the reservations of calls with outcomes; joins the transaction of the outcomes."""
    for function in SETTLE:
        function(pairs)


def settle_rescued(prices: Mapping[UUID, int | None]) -> Mapping[UUID, int]:
    """Settle the reservations of rescued rows; joins an open transaction.

    Args:
        prices: delivery to the price of its call in microdollars; 0: the call failed or was not
            made; None: the reserved price.

    Returns:
        Delivery to final price, for the reservations that ended now.
    """
    return {
        each: micros for function in SETTLE_RESCUED for each, micros in function(prices).items()
    }
