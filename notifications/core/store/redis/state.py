"""The state Redis: sent-ledger, rate limits, breakers, counters. Postgres holds the truth.

A loss of the state Redis loses no notification. The docstring of each caller states the behaviour
without Redis. After a failure the process makes no further call for two seconds, so that callers do
not wait for another timeout.

A server turned replica keeps connections and refuses writes. Such a refusal closes the connections
of the process, so the next call reaches the new primary.
"""

from __future__ import annotations

import functools
from pathlib import Path
from types import TracebackType
from typing import TYPE_CHECKING, Final, cast

import redis

from notifications.core import clock, conf, feature, server_faults

if TYPE_CHECKING:
    from redis.commands.core import Script

_LUA: Final = Path(__file__).parent / "lua"
_SOCKET_TIMEOUT: Final = 0.3
"""Seconds. A local Redis answers within a millisecond, so 0.3 s without an answer means down."""
_REST: Final = 2.0
"""Seconds without calls after a failure."""
_PROBE: Final = "probe"
_PROBE_LIVES: Final = 60
"""Seconds."""


class Away(Exception):
    """The state Redis is unreachable. The caller's docstring states the behaviour in that case."""


class _Circuit:
    """The state Redis counts as away for a moment after a failed call."""

    rests_until = 0.0
    """Monotonic seconds."""
    fault = ""
    """The reason of the last failure (`server_faults`); empty after a success."""


_circuit = _Circuit()


@functools.cache
def client() -> redis.Redis:
    """Return the process's client with a pool of connections, thread-safe."""
    return redis.Redis.from_url(
        conf.current().state_url,
        socket_timeout=_SOCKET_TIMEOUT,
        socket_connect_timeout=_SOCKET_TIMEOUT,
        socket_keepalive=True,
        health_check_interval=30,
    )


@functools.cache
def _script(name: str) -> Script:
    return client().register_script(feature.path_of(_LUA, f"{name}.lua").read_text())


def forget() -> None:
    """Connect anew on the next call, because the settings have changed."""
    client.cache_clear()
    _script.cache_clear()
    _circuit.rests_until = 0.0
    _circuit.fault = ""


class _Connection:
    """The client, while the state Redis does not count as away.

    A class, because each call enters it, and a generator takes twice as many calls of Python.
    """

    def __enter__(self) -> redis.Redis:
        if clock.monotonic() < _circuit.rests_until:
            raise Away
        return client()

    def __exit__(
        self,
        _kind: type[BaseException] | None,
        error: BaseException | None,
        _trace: TracebackType | None,
    ) -> None:
        if not isinstance(error, redis.RedisError):
            return
        _circuit.rests_until = clock.monotonic() + _REST
        _circuit.fault = server_faults.words(error)
        if server_faults.is_read_only(error):
            client().connection_pool.disconnect(inuse_connections=False)
        raise Away from error


_connection: Final = _Connection()


def connection() -> _Connection:
    """Give the client for commands of redis-py.

    Raises:
        Away: the state Redis did not answer, or failed less than two seconds ago.
    """
    return _connection


def probe() -> str:
    """Write to the state Redis; returns the fault (`server_faults`), empty for a write taken."""
    try:
        with connection() as redis_:
            redis_.set(_PROBE, 1, ex=_PROBE_LIVES)
    except Away:
        return _circuit.fault
    _circuit.fault = ""
    return ""


def eviction_policy() -> str:
    """Return the server's `maxmemory-policy`; empty if the server does not tell it.

    Raises:
        Away: as `connection`.
    """
    with connection() as redis_:
        return server_faults.eviction_policy(redis_)


def call(script: str, keys: list[str], arguments: list[str | int | float | bytes]) -> object:
    """Run `lua/<script>.lua`, of the core or of a feature.

    Raises:
        Away: as `connection`.
    """
    with connection():
        return _script(script)(keys=keys, args=arguments)


def get_many(keys: list[str]) -> list[bytes | None]:
    """Read the values of keys in one MGET.

    Raises:
        Away: as `connection`.
    """
    if not keys:
        return []
    with connection() as redis_:
        return cast("list[bytes | None]", redis_.mget(keys))


def answers() -> bool:
    """Return True if the state Redis answers now."""
    try:
        with connection() as redis_:
            redis_.ping()
    except Away:
        return False
    return True
