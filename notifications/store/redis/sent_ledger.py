"""The sent-ledger: the outcome of each provider call, written before the database has it.

A worker that dies between a provider's answer and the commit leaves a row in `sending`; the rescue
settles the row by the ledger. The key of an entry has the attempt: the entry of an earlier call is
no evidence about a later call, and a worker that was frozen during its call does not replace the
entry of the next call. A missing entry is no evidence: then, and without the state Redis,
`rules.unanswered` decides.
"""

from __future__ import annotations

import contextlib
from collections.abc import Callable, Iterable, Mapping
from typing import Final, NamedTuple
from uuid import UUID

from notifications.store.redis import state
from providers.contract import (
    Accepted,
    Misconfigured,
    NotStarted,
    Outcome,
    Rejected,
    Throttled,
    Unavailable,
)

_KEEP: Final = 15 * 60
"""Seconds: longer than the longest lease (60 s) and the broker's visibility timeout (600 s)."""
_DEFINITE: Final[Mapping[str, Callable[[str], Outcome]]] = {
    "accepted": lambda said: Accepted(message_id=said),
    "throttled": lambda said: Throttled(code=said),
    "unavailable": lambda said: Unavailable(code=said),
    "notstarted": lambda said: NotStarted(code=said),
    "rejected": lambda said: Rejected(code=said),
    "misconfigured": lambda said: Misconfigured(code=said),
}
"""Outcomes that settle whether the message was sent; `Unanswered` leaves the question open."""


class LedgerEntry(NamedTuple):
    """A call and its outcome."""

    delivery_id: UUID
    attempt: int
    provider: str
    outcome: Outcome


def write(entries: Iterable[LedgerEntry]) -> None:
    """Write the definite outcomes in one round trip; does nothing while the state Redis is away."""
    values = {
        _key(each.delivery_id, each.attempt): _format(each)
        for each in entries
        if type(each.outcome).__name__.lower() in _DEFINITE
    }
    if values:
        with contextlib.suppress(state.Away):
            state.call("set_many", list(values), [_KEEP, *values.values()])


def load(attempts: Mapping[UUID, int]) -> dict[UUID, LedgerEntry]:
    """Return the entries of these attempts of deliveries; empty while the state Redis is away."""
    found = state.get_many([_key(*each) for each in attempts.items()])
    entries = {
        delivery_id: _parse(delivery_id, value.decode())
        for delivery_id, value in zip(attempts, found, strict=True)
        if value is not None
    }
    return {key: entry for key, entry in entries.items() if entry is not None}


def _format(entry: LedgerEntry) -> str:
    outcome = entry.outcome
    said = outcome.message_id if isinstance(outcome, Accepted) else outcome.code
    return f"{type(outcome).__name__.lower()} {entry.attempt} {entry.provider} {said}"


def _parse(delivery_id: UUID, value: str) -> LedgerEntry | None:
    name, _, rest = value.partition(" ")
    attempt, _, rest = rest.partition(" ")
    provider, _, said = rest.partition(" ")
    make = _DEFINITE.get(name)
    if make is None or not attempt.isdecimal():
        return None  # an entry of another release
    return LedgerEntry(delivery_id, int(attempt), provider, make(said))


def _key(delivery_id: UUID, attempt: int) -> str:
    return f"sent:{delivery_id.hex}:{attempt}"
