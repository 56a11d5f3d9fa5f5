"""The state Redis: sent-ledger, rate limits, news, tallies. Losing it loses nothing.

Everything here is an optimisation or a second opinion; Postgres has the truth. So each caller says
what holds while it is away, and after one failure this process leaves it alone for a moment instead
of waiting on every call.
"""

from __future__ import annotations

import functools
from collections.abc import Mapping, Sequence
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
    """The state Redis cannot be asked now. Do what the caller's docstring says of that."""


class _Circuit:
    """Remembers for a moment that the last call failed."""

    def __init__(self) -> None:
        self._rests_until = 0.0

    def check(self) -> None:
        if clock.monotonic() < self._rests_until:
            raise Away

    def trip(self) -> None:
        self._rests_until = clock.monotonic() + _REST

    def reset(self) -> None:
        self._rests_until = 0.0


_circuit = _Circuit()


@functools.cache
def client() -> redis.Redis:
    """This process's client (it pools its connections and is safe in threads)."""
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
    """Connect anew on the next call: the settings have changed."""
    client.cache_clear()
    _script.cache_clear()
    _circuit.reset()


def call(script: str, keys: list[str], arguments: list[str | int | float | bytes]) -> object:
    """Run `lua/<script>.lua`.

    Raises:
        Away: the state Redis did not answer, or failed a moment ago.
    """
    _circuit.check()
    try:
        return _script(script)(keys=keys, args=arguments)
    except redis.RedisError as error:
        _circuit.trip()
        raise Away from error


def set_many(entries: Mapping[str, str], *, seconds: int) -> None:
    """SET many keys with one expiry in one round trip.

    Raises:
        Away: as `call`.
    """
    values: list[str | int | float | bytes] = [seconds, *entries.values()]
    call("set_many", list(entries), values)


def get_many(keys: list[str]) -> list[bytes | None]:
    """MGET.

    Raises:
        Away: as `call`.
    """
    _circuit.check()
    try:
        return cast("list[bytes | None]", client().mget(keys)) if keys else []
    except redis.RedisError as error:
        _circuit.trip()
        raise Away from error


def increase(key: str, counts: Mapping[str, int]) -> None:
    """HINCRBY for each field, in one round trip.

    Raises:
        Away: as `call`.
    """
    _circuit.check()
    try:
        with client().pipeline(transaction=False) as together:
            for field, count in counts.items():
                together.hincrby(key, field, count)
            together.execute()
    except redis.RedisError as error:
        _circuit.trip()
        raise Away from error


def counters(key: str) -> dict[str, int]:
    """HGETALL of what `increase` counted.

    Raises:
        Away: as `call`.
    """
    return {field: int(count) for field, count in notes(key).items()}


def note(key: str, values: Mapping[str, str]) -> None:
    """HSET.

    Raises:
        Away: as `call`.
    """
    _circuit.check()
    try:
        client().hset(key, items=[part for pair in values.items() for part in pair])
    except redis.RedisError as error:
        _circuit.trip()
        raise Away from error


def notes(key: str) -> dict[str, str]:
    """HGETALL of what `note` set.

    Raises:
        Away: as `call`.
    """
    _circuit.check()
    try:
        found = cast("dict[bytes, bytes]", client().hgetall(key))
    except redis.RedisError as error:
        _circuit.trip()
        raise Away from error
    return {field.decode(): value.decode() for field, value in found.items()}


def unnote(key: str, fields: Sequence[str]) -> None:
    """HDEL; nothing for no fields.

    Raises:
        Away: as `call`.
    """
    _circuit.check()
    try:
        if fields:
            client().hdel(key, *fields)
    except redis.RedisError as error:
        _circuit.trip()
        raise Away from error


def publish(channel: str, message: str) -> None:
    """PUBLISH to whoever listens.

    Raises:
        Away: as `call`.
    """
    _circuit.check()
    try:
        client().publish(channel, message)
    except redis.RedisError as error:
        _circuit.trip()
        raise Away from error


def newest(key: str, *, since: float, limit: int) -> tuple[int, list[str]]:
    """Of a sorted set: how many members score over `since`, and up to `limit`, highest first.

    Raises:
        Away: as `call`.
    """
    _circuit.check()
    try:
        with client().pipeline(transaction=False) as together:
            together.zcount(key, since, "+inf")
            together.zrange(key, "+inf", since, desc=True, byscore=True, offset=0, num=limit)
            count, found = together.execute()
    except redis.RedisError as error:
        _circuit.trip()
        raise Away from error
    return count, [each.decode() for each in found]


def members(key: str) -> set[str]:
    """SMEMBERS.

    Raises:
        Away: as `call`.
    """
    _circuit.check()
    try:
        found = cast("set[bytes]", client().smembers(key))
    except redis.RedisError as error:
        _circuit.trip()
        raise Away from error
    return {each.decode() for each in found}


def add(key: str, member: str) -> None:
    """SADD.

    Raises:
        Away: as `call`.
    """
    _circuit.check()
    try:
        client().sadd(key, member)
    except redis.RedisError as error:
        _circuit.trip()
        raise Away from error


def remove(key: str, member: str) -> None:
    """SREM.

    Raises:
        Away: as `call`.
    """
    _circuit.check()
    try:
        client().srem(key, member)
    except redis.RedisError as error:
        _circuit.trip()
        raise Away from error
