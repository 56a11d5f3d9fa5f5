"""Counts of refusals of the same part of messages, in windows of five minutes.

A provider that refuses the sender of each message of a brand refuses a whole bulk job. The first
`REFUSALS_BELIEVED` refusals of a window are believed; the deliveries of the others wait, because a
wave of refusals is probably a wrong setting. While Redis is away, each batch is judged alone.
"""

from __future__ import annotations

from typing import Final

from notifications.core.rules.rate_limits.circuit_breaker import REFUSALS_BELIEVED
from notifications.core.store.redis import state

_WINDOW: Final = 300
"""Seconds from the first refusal of a window."""


def believed(refused: str, count: int) -> int:
    """Count further refusals of a part; returns how many of them are believed. Raises nothing.

    Args:
        refused: provider, channel, part, and the producer or type.
        count: the refusals.
    """
    key = f"refusals:{refused}"
    try:
        with state.connection() as redis, redis.pipeline(transaction=False) as together:
            together.incrby(key, count)
            together.expire(key, _WINDOW, nx=True)
            total: int = together.execute()[0]
    except state.Away:
        total = count
    return max(0, min(count, REFUSALS_BELIEVED + count - total))
