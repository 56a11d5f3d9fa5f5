"""How much one client address may ask without a key: a bucket for each, in the state Redis.

The same arithmetic as a producer's limit (`lua/gcra.lua`). While the state Redis is away each
process counts by itself, for as many addresses as fit into its memory.
"""

from __future__ import annotations

import datetime as dt
import threading
from enum import StrEnum
from typing import Final, cast

from notifications import clock, conf
from notifications.store.redis import state

_SECOND_US: Final = 1_000_000
_MICROSECOND: Final = dt.timedelta(microseconds=1)
_BURST_SECONDS: Final = 10
"""An idle address may ask at once what it may ask in so many seconds."""
_MOST_REMEMBERED: Final = 10_000
"""Addresses in this process's memory; strangers must not fill it."""


class Bucket(StrEnum):
    """What is counted apart."""

    OPEN = "open"
    """Requests to paths that need no key."""
    FAILED = "failed"
    """Requests whose key or signature was wrong."""


def take(bucket: Bucket, address: str) -> dt.timedelta:
    """Count a request; returns how long the address must wait, and zero where it need not.

    A refusal is remembered here: until it has passed, the address costs nothing more than a look
    into this process's memory.
    """
    rate = conf.current().web.open_requests_per_second
    name = f"limit:{bucket}:{address}"
    waits = wait(bucket, address)
    if waits or not rate:
        return waits
    price = _price(rate)
    try:
        answers = state.call("gcra", [name], [price, rate * _BURST_SECONDS, 1])
        granted, _, _, wait_us = cast("list[list[float]]", answers)[0]
    except state.Away:
        granted, wait_us = _take_locally(name, price, rate * _BURST_SECONDS)
    if granted:
        return dt.timedelta(0)
    with _lock:
        if len(_refused_until) >= _MOST_REMEMBERED:
            _refused_until.clear()
        _refused_until[name] = clock.monotonic() * _SECOND_US + wait_us
    return max(_MICROSECOND, wait_us * _MICROSECOND)


def _price(rate: int) -> float:
    """Microseconds that one request costs."""
    return _SECOND_US / rate


def wait(bucket: Bucket, address: str) -> dt.timedelta:
    """How long an address that was refused must still wait; zero for any other. No round trip."""
    until = _refused_until.get(f"limit:{bucket}:{address}")
    if until is None:
        return dt.timedelta(0)
    return max(0.0, until - clock.monotonic() * _SECOND_US) * _MICROSECOND


def forget() -> None:
    """Drop what this process remembers."""
    _refused_until.clear()
    _paid_at.clear()


_refused_until: dict[str, float] = {}
"""Bucket -> monotonic microseconds."""
_paid_at: dict[str, float] = {}
"""This process's own buckets, for a state Redis that is away: as `lua/gcra.lua` keeps them."""
_lock = threading.Lock()


def _take_locally(name: str, price: float, burst: int) -> tuple[float, float]:
    with _lock:
        now = clock.monotonic() * _SECOND_US
        if len(_paid_at) >= _MOST_REMEMBERED:
            _paid_at.clear()
        owed = max(_paid_at.get(name, now) - now, 0.0)
        if owed + price > burst * price:
            return 0.0, owed + price - burst * price
        _paid_at[name] = now + owed + price
        return 1.0, 0.0
