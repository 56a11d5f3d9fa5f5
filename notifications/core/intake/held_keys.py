"""Idempotency keys that another transaction holds.

A request with such a key waits in a statement, and holds the slot of the statement
(`store.postgres.slots`). So the wait is short, and the request ends with 409 and Retry-After. A
transaction that stands still holds its keys for up to 30 s (`idle_in_transaction_session_timeout`),
in which producers repeat their requests. So the process remembers the keys for two seconds after
each wait: a repeat in this time waits for some milliseconds only, and joins no group.
"""

from __future__ import annotations

import datetime as dt
import threading
from collections.abc import Collection
from typing import Final

from notifications.core import clock
from notifications.core.rules.lane import Mode
from notifications.core.store.postgres.idempotency import IdempotencyKey

_PATIENCE: Final = dt.timedelta(milliseconds=200)
"""Wait for a key; a usual transaction ends within some milliseconds."""
_PATIENCE_AGAIN: Final = dt.timedelta(milliseconds=10)
"""Wait for a key that was held a moment ago."""
_REMEMBERED_SECONDS: Final = 2.0
"""Longer than `Retry-After` of a request whose key is held (`idempotency_keys.IN_PROGRESS`)."""
_MOST: Final = 10_000
"""Keys remembered at most; further keys are forgotten sooner."""

_held: Final[dict[IdempotencyKey, float]] = {}
"""Keys with the monotonic time in seconds until which they are remembered, oldest first."""
_changing: Final = threading.Lock()


def note(keys: Collection[IdempotencyKey]) -> None:
    """Remember the keys of a list that waited for a key in vain: one of the keys is held."""
    now = clock.monotonic()
    with _changing:
        for key in keys:
            _held.pop(key, None)
            _held[key] = now + _REMEMBERED_SECONDS
        for key, until in list(_held.items()):
            if until > now and len(_held) <= _MOST:
                break
            del _held[key]


def is_noted(producer_id: int, mode: Mode, name: str | None) -> bool:
    """Return True if the key was held a moment ago."""
    if not _held or name is None:
        return False
    return _held.get(IdempotencyKey(producer_id, mode, name), 0.0) > clock.monotonic()


def patience(keys: Collection[IdempotencyKey]) -> dt.timedelta:
    """Return the longest wait for one of the keys."""
    if _held and any(is_noted(*each) for each in keys):
        return _PATIENCE_AGAIN
    return _PATIENCE
