"""The sent-ledger: what a provider accepted, written before the database knows.

A worker that dies between a provider's yes and its own commit leaves a row in `sending`. The ledger
is the evidence that settles it as sent instead of sending it again. It is best effort: no entry
proves nothing, and without the state Redis the answer of `rules.unanswered` holds.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Final
from uuid import UUID

from notifications.store import state

_KEEP: Final = 7 * 24 * 3600
"""Seconds: longer than any lease, restart or long weekend."""


def write(accepted: Mapping[UUID, str], *, provider: str) -> None:
    """Note that the provider took these deliveries, with its message id each; in one round trip."""
    entries = {_key(each): f"{provider} {message_id}" for each, message_id in accepted.items()}
    try:
        state.set_many(entries, seconds=_KEEP)
    except state.Away:
        return  # the settle that follows is the truth; the ledger only covers a crash before it


def read(delivery_ids: Sequence[UUID]) -> dict[UUID, tuple[str, str]]:
    """Provider and message id of those that have an entry; empty when the state Redis is away."""
    try:
        found = state.get_many([_key(each) for each in delivery_ids])
    except state.Away:
        return {}
    entries = {}
    for delivery_id, value in zip(delivery_ids, found, strict=True):
        if value is not None:
            provider, _, message_id = value.decode().partition(" ")
            entries[delivery_id] = (provider, message_id)
    return entries


def _key(delivery_id: UUID) -> str:
    return f"sent:{delivery_id.hex}"
