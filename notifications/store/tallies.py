"""Tallies: how many deliveries were held, dropped and released, why, and who opted out of what.

For `/metrics`. They stand in the state Redis, because a scrape that counted them in Postgres would
read a day of events. Live mode alone is counted, after its commit: one round trip for a batch, and
none for a batch of which nothing was held, dropped or released.

They are figures, not facts: while the state Redis is away nothing is counted and nobody waits for
it, and when it was lost they begin at zero, which Prometheus takes for a restart.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping
from typing import Final

from django.db import transaction

from notifications.rules.states import Status
from notifications.store import state

COUNTED: Final = frozenset({Status.SCHEDULED, Status.QUEUED, Status.SUPPRESSED, Status.EXPIRED})
"""Moves to these are counted: held, released, dropped, too late."""
CATEGORY: Final = "category"
"""Somebody opted out of a kind of message; other causes are those of the suppression list."""
_MOVES: Final = "tally:moves"
_OPT_OUTS: Final = "tally:opt_outs"


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


def _count(key: str, counts: Mapping[str, int]) -> None:
    if counts:
        transaction.on_commit(lambda: _add(key, counts))


def _add(key: str, counts: Mapping[str, int]) -> None:
    try:
        state.increase(key, counts)
    except state.Away:
        return  # as the module says: a figure less
