"""The state Redis: sent-ledger, rate limits, breakers, tallies. Postgres has the truth.

Losing the state Redis loses no notification. Each caller says what holds while it is away. After a
failure this process does not ask it again for two seconds, instead of waiting on every call.
"""

from __future__ import annotations

import functools
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Final, cast

import redis

from notifications import clock, conf

if TYPE_CHECKING:
    from redis.commands.core import Script

_LUA: Final = Path(__file__).parent / "lua"
_SOCKET_TIMEOUT: Final = 0.3
"""Seconds. A local Redis answers in one millisecond; three hundred means that it is gone."""
_REST: Final = 2.0
"""Seconds to leave a Redis alone that has just failed."""


class Away(Exception):
    """The state Redis cannot be asked now. The caller's docstring says what holds then."""


class _Circuit:
    """Whether the last call failed a moment ago."""

    rests_until = 0.0
    """Monotonic seconds."""


_circuit = _Circuit()


@functools.cache
def client() -> redis.Redis:
    """This process's client: it pools connections and is safe in threads."""
    return redis.Redis.from_url(
        conf.current().state_url,
        socket_timeout=_SOCKET_TIMEOUT,
        socket_connect_timeout=_SOCKET_TIMEOUT,
        socket_keepalive=True,
        health_check_interval=30,
    )


@functools.cache
def _script(name: str) -> Script:
    return client().register_script((_LUA / f"{name}.lua").read_text())


def forget() -> None:
    """Connect anew on the next call, because the settings have changed."""
    client.cache_clear()
    _script.cache_clear()
    _circuit.rests_until = 0.0


@contextmanager
def connection() -> Iterator[redis.Redis]:
    """Give the client for commands of redis-py.

    Raises:
        Away: the state Redis did not answer, or failed less than two seconds ago.
    """
    if clock.monotonic() < _circuit.rests_until:
        raise Away
    try:
        yield client()
    except redis.RedisError as error:
        _circuit.rests_until = clock.monotonic() + _REST
        raise Away from error


def call(script: str, keys: list[str], arguments: list[str | int | float | bytes]) -> object:
    """Run `lua/<script>.lua`.

    Raises:
        Away: as `connection`.
    """
    with connection():
        return _script(script)(keys=keys, args=arguments)


def get_many(keys: list[str]) -> list[bytes | None]:
    """Read the values of keys in one MGET; while the state Redis is away each is None."""
    try:
        with connection() as redis_:
            return cast("list[bytes | None]", redis_.mget(keys)) if keys else []
    except Away:
        return [None] * len(keys)
