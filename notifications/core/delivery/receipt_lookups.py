"""Receipts to look up: accepted calls of a vendor that keeps receipts until somebody asks.

    NOTE    stores the calls, in the transaction of the outcomes    (calls, *, provider, lookup)

Without a feature nobody asks, and an accepted message stays accepted.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Final

from notifications.core.delivery import routing
from notifications.core.gate import Place, function_at
from notifications.core.store.postgres.attempts import AttemptRow
from providers.receipt_lookup import LooksUpReceipts

NOTE: Final[Sequence[Callable[..., None]]] = (*function_at(Place.RECEIPT_LOOKUPS),)

_ACCEPTED: Final = "accepted"


def note(calls: Sequence[AttemptRow], *, provider: str) -> None:
    """Store the accepted calls with a message id; joins the transaction of the outcomes."""
    adapter = routing.provider_named(provider)
    if not isinstance(adapter, LooksUpReceipts):
        return
    accepted = [each for each in calls if each.outcome == _ACCEPTED and each.detail]
    for store in NOTE if accepted else ():
        store(accepted, provider=provider, lookup=adapter.lookup)
