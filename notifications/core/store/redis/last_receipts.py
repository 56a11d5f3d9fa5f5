"""The time of the last receipt of each provider, for operators.

The time is in the state Redis, because a row in Postgres would be updated by every web process.
Each process writes a provider's time at most once a minute, so receipts cost no call. While the
state Redis is away no time is written; after a loss the next receipt writes a time again.
"""

from __future__ import annotations

import contextlib
import datetime as dt
from typing import Final, cast

from notifications.core import clock
from notifications.core.store.redis import state

_KEY: Final = "receipts:last"
_EVERY_SECONDS: Final = 60.0

_noted_at: dict[str, float] = {}
"""Monotonic seconds of this process's last write, by provider. Two threads may write at once."""


def note(provider: str) -> None:
    """Store the present time, unless this process stored a time in the last minute."""
    now = clock.monotonic()
    if now - _noted_at.get(provider, -_EVERY_SECONDS) < _EVERY_SECONDS:
        return
    _noted_at[provider] = now
    with contextlib.suppress(state.Away), state.connection() as redis:
        redis.hset(_KEY, provider, f"{clock.now().timestamp():.0f}")


def load() -> dict[str, dt.datetime]:
    """Return the times by provider; empty while the state Redis is away."""
    found: dict[bytes, bytes] = {}
    with contextlib.suppress(state.Away), state.connection() as redis:
        found = cast("dict[bytes, bytes]", redis.hgetall(_KEY))
    return {
        provider.decode(): dt.datetime.fromtimestamp(int(seconds), dt.UTC)
        for provider, seconds in found.items()
    }


def forget() -> None:
    """Write again on the next receipt."""
    _noted_at.clear()
