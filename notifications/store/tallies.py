"""Tallies: how many deliveries were held, dropped and released, opt-outs, calls in flight.

For `/metrics`. They stand in the state Redis, because a scrape that counted them in Postgres would
read a day of events. Live mode alone is counted, after its commit: one round trip for a batch, and
none for a batch of which nothing was held, dropped or released.

They are figures, not facts: while the state Redis is away nothing is counted and nobody waits for
it, and when it was lost they begin at zero, which Prometheus takes for a restart.
"""

from __future__ import annotations

import os
import socket
from collections import Counter
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Final

from django.db import transaction

from notifications import clock
from notifications.rules.states import Status
from notifications.store import state

COUNTED: Final = frozenset({Status.SCHEDULED, Status.QUEUED, Status.SUPPRESSED, Status.EXPIRED})
"""Moves to these are counted: held, released, dropped, too late."""
CATEGORY: Final = "category"
"""Somebody opted out of a kind of message; other causes are those of the suppression list."""
_MOVES: Final = "tally:moves"
_OPT_OUTS: Final = "tally:opt_outs"
_IN_FLIGHT: Final = "tally:in_flight"
_FRESH_SECONDS: Final = 10
"""A process that has told nothing for this long has nothing in flight, or has ended."""


@dataclass(frozen=True, slots=True)
class InFlight:
    """The calls of one provider, over all processes that told of any in the last seconds."""

    limit: int = 0
    in_flight: int = 0

    def __add__(self, other: InFlight) -> InFlight:
        """Both processes' figures together."""
        return InFlight(self.limit + other.limit, self.in_flight + other.in_flight)


def count_moves(to: Status, reasons: Iterable[str]) -> None:
    """Count moves to one of COUNTED, by reason, once the transaction under way is committed."""
    _count(_MOVES, Counter(f"{to.label} {reason}" for reason in reasons if reason))


def count_opt_outs(causes: Iterable[str]) -> None:
    """Count what people stopped, the same way."""
    _count(_OPT_OUTS, Counter(causes))


def moves() -> dict[tuple[str, str], int]:
    """How many moves there were, by status and reason.

    Raises:
        state.Away: nobody can tell.
    """
    found = state.counters(_MOVES).items()
    return {(name.partition(" ")[0], name.partition(" ")[2]): count for name, count in found}


def opt_outs() -> dict[str, int]:
    """How many there were, by cause.

    Raises:
        state.Away: nobody can tell.
    """
    return state.counters(_OPT_OUTS)


def note_in_flight(provider: str, *, limit: int, in_flight: int) -> None:
    """Note how many calls of a provider this process may have, and has, in flight."""
    process = f"{socket.gethostname()}:{os.getpid()}"
    figure = f"{clock.now().timestamp():.0f} {limit} {in_flight}"
    try:
        state.note(_IN_FLIGHT, {f"{provider} {process}": figure})
    except state.Away:
        return  # as the module says: a figure less


def in_flight() -> dict[str, InFlight]:
    """Calls in flight and their limits, by provider; forgets processes that tell no more.

    Raises:
        state.Away: nobody can tell.
    """
    oldest = clock.now().timestamp() - _FRESH_SECONDS
    found: dict[str, InFlight] = {}
    ended: list[str] = []
    for field, figure in state.notes(_IN_FLIGHT).items():
        noted_at, limit, count = (int(part) for part in figure.split())
        if noted_at < oldest:
            ended.append(field)
            continue
        provider = field.partition(" ")[0]
        found[provider] = found.get(provider, InFlight()) + InFlight(limit, count)
    state.unnote(_IN_FLIGHT, ended)
    return found


def _count(key: str, counts: Mapping[str, int]) -> None:
    if counts:
        transaction.on_commit(lambda: _add(key, counts))


def _add(key: str, counts: Mapping[str, int]) -> None:
    try:
        state.increase(key, counts)
    except state.Away:
        return  # as the module says: a figure less
