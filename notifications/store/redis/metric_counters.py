"""Tallies for `/metrics`: held, dropped and released deliveries, opt-outs, calls in flight.

They stand in the state Redis, because counting in Postgres would read a day of events. Only live
mode is counted, after the commit, in one round trip for a batch. While the state Redis is away
nothing is counted; after its loss the tallies begin at zero, as after a restart.
"""

from __future__ import annotations

import contextlib
import os
import socket
from collections import Counter
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Final, cast

from django.db import transaction

from notifications import clock
from notifications.rules.states import Status
from notifications.store.redis import state

COUNTED: Final = frozenset({Status.SCHEDULED, Status.QUEUED, Status.SUPPRESSED, Status.EXPIRED})
"""Statuses whose moves are counted."""
CATEGORY: Final = "category"
"""Cause of an opt-out from a category; other causes are those of the suppression list."""
_MOVES: Final = "tally:moves"
_OPT_OUTS: Final = "tally:opt_outs"
_IN_FLIGHT: Final = "tally:in_flight"
_FRESH_SECONDS: Final = 10
"""A process without a report for this long has ended, or has no calls in flight."""


@dataclass(frozen=True, slots=True)
class InFlight:
    """The calls of one provider, over all processes with a recent report."""

    limit: int = 0
    in_flight: int = 0

    def __add__(self, other: InFlight) -> InFlight:
        """Add the figures of another process."""
        return InFlight(self.limit + other.limit, self.in_flight + other.in_flight)


def count_moves(to: Status, reasons: Iterable[str]) -> None:
    """Count moves to one of COUNTED, by reason, after the commit."""
    _count(_MOVES, Counter(f"{to.label} {reason}" for reason in reasons if reason))


def count_opt_outs(causes: Iterable[str]) -> None:
    """Count opt-outs, after the commit."""
    _count(_OPT_OUTS, Counter(causes))


def moves() -> dict[tuple[str, str], int]:
    """Return the number of moves, by status and reason.

    Raises:
        state.Away: the state Redis is away.
    """
    counts = _load(_MOVES).items()
    return {(name.partition(" ")[0], name.partition(" ")[2]): int(count) for name, count in counts}


def opt_outs() -> dict[str, int]:
    """Return the number of opt-outs, by cause.

    Raises:
        state.Away: the state Redis is away.
    """
    return {cause: int(count) for cause, count in _load(_OPT_OUTS).items()}


def note_in_flight(provider: str, *, limit: int, in_flight: int) -> None:
    """Report this process's limit and number of calls in flight at a provider."""
    process = f"{socket.gethostname()}:{os.getpid()}"
    figure = f"{clock.now().timestamp():.0f} {limit} {in_flight}"
    with contextlib.suppress(state.Away), state.connection() as redis:
        redis.hset(_IN_FLIGHT, f"{provider} {process}", figure)


def in_flight() -> dict[str, InFlight]:
    """Return calls in flight and limits, by provider; drops processes without a recent report.

    Raises:
        state.Away: the state Redis is away.
    """
    oldest = clock.now().timestamp() - _FRESH_SECONDS
    found: dict[str, InFlight] = {}
    ended: list[str] = []
    for field, figure in _load(_IN_FLIGHT).items():
        noted_at, limit, count = (int(part) for part in figure.split())
        if noted_at < oldest:
            ended.append(field)
            continue
        provider = field.partition(" ")[0]
        found[provider] = found.get(provider, InFlight()) + InFlight(limit, count)
    if ended:
        with state.connection() as redis:
            redis.hdel(_IN_FLIGHT, *ended)
    return found


def _count(key: str, counts: Mapping[str, int]) -> None:
    if counts:
        transaction.on_commit(lambda: _add(key, counts))


def _add(key: str, counts: Mapping[str, int]) -> None:
    with (
        contextlib.suppress(state.Away),
        state.connection() as redis,
        redis.pipeline(transaction=False) as together,
    ):
        for field, count in counts.items():
            together.hincrby(key, field, count)
        together.execute()


def _load(key: str) -> dict[str, str]:
    with state.connection() as redis:
        found = cast("dict[bytes, bytes]", redis.hgetall(key))
    return {field.decode(): value.decode() for field, value in found.items()}
