"""Time and random numbers: the only module that reads a clock or a random source.

The service uses Postgres's clock. A process compares its host's clock with Postgres at boot and
every minute (`store.postgres.host_clock`). Between two comparisons `now()` adds the elapsed time of
a clock that cannot be set. A wrong host clock therefore changes no time to live, no due time and no
date in an id, even if the host clock is set while the process runs. A process without a comparison
(a test, a shell command) uses its host's clock.

Providers check signatures and tokens against the host's clock, so a process stops working while its
host's clock differs from Postgres by more than a limit (`is_trusted`).
"""

from __future__ import annotations

import datetime as dt
import random
import secrets
import struct
import time
from dataclasses import dataclass
from typing import Final
from uuid import UUID

from notifications.core.rules import ids

_chance = random.SystemRandom()
_STEADY: Final = getattr(time, "CLOCK_BOOTTIME", time.CLOCK_MONOTONIC)
"""Linux's boot clock also counts while the machine is suspended; other kernels have no such
clock."""
_EPOCH: Final = dt.datetime(1970, 1, 1, tzinfo=dt.UTC)
_MILLISECOND: Final = dt.timedelta(milliseconds=1)


def host() -> dt.datetime:
    """Return the host's time in UTC, which providers compare signatures with."""
    return dt.datetime.now(dt.UTC)


def steady() -> float:
    """Return seconds of a clock that cannot be set; only differences are meaningful."""
    return time.clock_gettime(_STEADY)


@dataclass(frozen=True, slots=True)
class _Anchor:
    """Postgres's time at an instant of the steady clock."""

    at: dt.datetime
    steady: float


class _ClockState:
    """The last comparison with Postgres's clock."""

    anchor: _Anchor | None = None
    limit: dt.timedelta | None = None
    """Maximum difference of the host's clock; None if the process does not check its clock."""


_state: Final = _ClockState()


def now() -> dt.datetime:
    """Return the current time in UTC, by Postgres's clock after the first comparison."""
    anchor = _state.anchor
    if anchor is None:
        return host()
    return anchor.at + dt.timedelta(seconds=steady() - anchor.steady)


def compare(database: dt.datetime, *, at: float) -> None:
    """Store a comparison with Postgres's clock.

    Args:
        database: Postgres's time.
        at: `steady()` at the time of the query.
    """
    _state.anchor = _Anchor(database, at)


def watch(*, limit: dt.timedelta) -> None:
    """Trust the host's clock only within `limit` of Postgres's clock."""
    _state.limit = limit


def is_compared() -> bool:
    """Return True after the first comparison, or if there is no limit.

    A process that watches its clock has then reached its database at least once.
    """
    return _state.limit is None or _state.anchor is not None


def forget() -> None:
    """Delete the comparison and the limit."""
    _state.anchor = _state.limit = None


def skew() -> dt.timedelta:
    """Return how far the host's clock is ahead of Postgres; zero without a comparison."""
    return host() - now() if _state.anchor is not None else AT_ONCE


def is_trusted() -> bool:
    """Return True if the host's clock is within the limit, or if there is no limit."""
    limit = _state.limit
    return limit is None or (_state.anchor is not None and abs(skew()) <= limit)


def monotonic() -> float:
    """Return seconds of the monotonic clock, for measuring durations."""
    return time.monotonic()


def jitter() -> float:
    """Return a random number from [0, 1)."""
    return _chance.random()


def new_notification_id() -> UUID:
    """Return a new notification id, which contains the current millisecond."""
    [one] = new_notification_ids(1, at=now())
    return one


def new_notification_ids(count: int, *, at: dt.datetime) -> list[UUID]:
    """Return ascending new notification ids, which contain the millisecond of `at`."""
    at_ms = (at - _EPOCH) // _MILLISECOND
    numbers = struct.unpack(f">{count}Q", secrets.token_bytes(8 * count))
    return [
        ids.notification_id(at_ms=at_ms, entropy=each >> 64 - ids.RANDOM_BITS)
        for each in sorted(numbers)
    ]


def new_claim_token() -> UUID:
    """Return a new token of a claim, which contains the current millisecond."""
    return new_notification_id()


AT_ONCE = dt.timedelta(0)
"""A wait of zero: due now."""
