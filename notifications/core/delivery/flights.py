"""Flights: the flight recorder's notes of a wave, from the plan to the settle.

plan, before the lease is renewed -> correct -> (begin, answer: in the wave) -> note_end
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Final
from uuid import UUID

from notifications.core.delivery.claimed import ClaimedDelivery
from notifications.core.store import flight_recorder
from notifications.core.store.redis import sent_ledger
from notifications.core.store.redis.sent_ledger import LedgerEntry
from providers.contract import NotStarted

_NOT_CALLED: Final = NotStarted(code="worker_lost")
_ANY: Final = UUID(int=0)
"""The entry is the same for all deliveries of a claim: the key has the delivery."""


def plan(deliveries: Iterable[ClaimedDelivery], *, token: UUID, provider: str) -> None:
    """Note that the next call of each delivery has not begun."""
    entry = sent_ledger.encode(LedgerEntry(_ANY, 0, provider, _NOT_CALLED, token=token))
    for claimed in deliveries:
        claimed.note_end()
        attempt = (claimed.call or claimed.delivery.attempts) + 1
        claimed.flight = flight_recorder.plan(claimed.delivery.id, attempt, entry)


def correct(deliveries: Iterable[ClaimedDelivery], calls: Mapping[UUID, int]) -> None:
    """Correct the attempts after the renewal; a delivery without a lease has no call."""
    for claimed in deliveries:
        attempt = calls.get(claimed.delivery.id)
        if attempt is None:
            claimed.note_end()
        elif claimed.flight is not None:
            claimed.flight.plan(attempt)


def publish(deliveries: Sequence[ClaimedDelivery]) -> None:
    """Publish that the calls were not made: the renewal failed, and perhaps its commit is lost."""
    noted = [claimed.flight for claimed in deliveries if claimed.flight is not None]
    sent_ledger.add_encoded({flight.key: flight.entry for flight in noted})
    for claimed in deliveries:
        claimed.note_end()
