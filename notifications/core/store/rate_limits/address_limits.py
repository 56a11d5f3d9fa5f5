"""Rate limits for requests without a key: a token bucket per client address, in the state Redis.

The arithmetic is the arithmetic of producer limits (`lua/gcra.lua`). While the state Redis is away,
each process keeps buckets in memory, for a bounded number of addresses.
"""

from __future__ import annotations

import datetime as dt
import threading
from enum import StrEnum
from typing import Final, cast

from notifications.core import clock, conf
from notifications.core.store.redis import state

_SECOND_US: Final = 1_000_000
_MICROSECOND: Final = dt.timedelta(microseconds=1)
_BURST_SECONDS: Final = 10
"""Size of the burst: an idle address gets the requests of this many seconds at once."""
_MOST_REMEMBERED: Final = 10_000
"""Upper bound of the addresses in memory, so that unknown clients cannot exhaust the memory."""


class Bucket(StrEnum):
    """The separately counted kinds of requests."""

    OPEN = "open"
    """Requests to paths without authentication."""
    FAILED = "failed"
    """Requests with a wrong key or signature."""
    RECIPIENT = "recipient"
    """Requests with recipient tokens, per recipient in place of the address."""
    TOKEN = "token"  # noqa: S105 - the name of a bucket
    """Requests with one recipient token, per token in place of the address; half of the rate."""


def take(bucket: Bucket, address: str) -> dt.timedelta:
    """Count a request; return the wait before the next request, zero if the request is granted.

    A refusal is kept in memory: until the wait ends, further requests of the address make no Redis
    call.
    """
    rate = conf.current().web.open_requests_per_second
    if bucket is Bucket.TOKEN and rate:
        rate = max(1, rate // 2)
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
    """Return the cost of a request in microseconds."""
    return _SECOND_US / rate


def wait(bucket: Bucket, address: str) -> dt.timedelta:
    """Return the remaining wait of a refused address, else zero. Makes no Redis call."""
    until = _refused_until.get(f"limit:{bucket}:{address}")
    if until is None:
        return dt.timedelta(0)
    return max(0.0, until - clock.monotonic() * _SECOND_US) * _MICROSECOND


def forget() -> None:
    """Clear the buckets and refusals."""
    _refused_until.clear()
    _paid_at.clear()


_refused_until: dict[str, float] = {}
"""Bucket -> monotonic microseconds."""
_paid_at: dict[str, float] = {}
"""Buckets of this process, used while the state Redis is away; the values are as in `lua/gcra.lua`.
"""
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
