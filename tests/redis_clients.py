"""Clients of the state Redis and of the broker in the test process.

The product takes an answer that needs more than 0.3 s as the sign of a server that is down, and
uses no state Redis for two seconds. On a busy machine a Valkey that is up can need that long, so
the test process waits longer. Programs that tests start keep the product's timeouts.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Final

import pytest
from kombu import pools

from notifications.core import broker
from notifications.core.store.redis import state

_SECONDS: Final = 10.0
_TIMEOUTS: Final = {
    (module, name): getattr(module, name)
    for module, name in (
        (state, "_SOCKET_TIMEOUT"),
        (broker, "TIMEOUT"),
        (broker, "_CONFIRMED_WITHIN"),
    )
}
"""The product's, in seconds."""


def lengthen_timeouts() -> None:
    """Give each command ten seconds; to be called before the first connection."""
    for module, name in _TIMEOUTS:
        setattr(module, name, _SECONDS)


@contextmanager
def product_timeouts() -> Iterator[None]:
    """Use the product's timeouts in this block, for tests with a frozen server."""
    with pytest.MonkeyPatch.context() as patch:
        for (module, name), seconds in _TIMEOUTS.items():
            patch.setattr(module, name, seconds)
        connect_anew()
        yield
    connect_anew()


def connect_anew() -> None:
    """Forget all clients, because URLs or timeouts have changed."""
    state.forget()
    for cached in (broker._redis, broker.connection, broker._writer):
        cached.cache_clear()
    pools.reset()
