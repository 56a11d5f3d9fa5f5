"""Counters for `/metrics`: held, dropped and released deliveries, opt-outs, calls in flight.

The counters are in the state Redis, because counting in Postgres would read the events of a day.
Counting covers live mode only, after the commit, in one round trip per batch. While the state Redis
is away, counts are dropped; after a loss the counters begin at zero, as after a restart.
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

from notifications.core import clock
from notifications.core.rules.states import Status
from notifications.core.store.redis import state

COUNTED: Final = frozenset({Status.SCHEDULED, Status.QUEUED, Status.SUPPRESSED, Status.EXPIRED})
"""Statuses with a counter of transitions."""
CATEGORY: Final = "category"
CHANNEL: Final = "channel"
"""Cause of an opt-out from a category; the other causes are causes of the suppression list."""
_MOVES: Final = "tally:moves"
_OPT_OUTS: Final = "tally:opt_outs"
_IN_FLIGHT: Final = "tally:in_flight"
_FRESH_SECONDS: Final = 10
"""Age in seconds after which the report of a process is ignored: the process ended or is idle."""


@dataclass(frozen=True, slots=True)
class InFlight:
    """Calls in flight of one provider, summed over all processes with a recent report."""

    limit: int = 0
    in_flight: int = 0

    def __add__(self, other: InFlight) -> InFlight:
        """Add the numbers of another process."""
        return InFlight(self.limit + other.limit, self.in_flight + other.in_flight)


def count_moves(to: Status, reasons: Iterable[str]) -> None:
    """Count transitions to a status of COUNTED by reason, after the commit."""
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
    """Report this process's limit and calls in flight for a provider."""
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
