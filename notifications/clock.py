"""Time and chance: the only place that asks for either, so that everything else can be given them.

The service's clock is Postgres's. A process compares its host's clock with Postgres's at boot and
each minute (`store.postgres.host_clock`). From then on `now()` is Postgres's time, carried on by a
clock that nobody sets. So a host's wrong clock changes neither a time to live nor a due time nor
the day in an id, even if somebody sets it while the process runs. A process that never compared (a
test, a command at a shell) uses its host's clock.

Providers judge signatures and tokens by the host's clock all the same. So a process whose host is
more than a limit away from Postgres does not work (`is_trusted`).
"""

from __future__ import annotations

import datetime as dt
import random
import secrets
import time
from dataclasses import dataclass
from typing import Final
from uuid import UUID

from notifications.rules import ids

_chance = random.SystemRandom()
_STEADY: Final = getattr(time, "CLOCK_BOOTTIME", time.CLOCK_MONOTONIC)
"""Linux's boot clock also counts while the machine is suspended; other kernels have no such one."""
_EPOCH: Final = dt.datetime(1970, 1, 1, tzinfo=dt.UTC)
_MILLISECOND: Final = dt.timedelta(milliseconds=1)


def host() -> dt.datetime:
    """The host's own clock, aware, in UTC: what a provider compares our signatures with."""
    return dt.datetime.now(dt.UTC)


def steady() -> float:
    """Seconds of a clock that nobody sets; only differences mean something."""
    return time.clock_gettime(_STEADY)


@dataclass(frozen=True, slots=True)
class _Anchor:
    """Postgres's time at one instant of the steady clock."""

    at: dt.datetime
    steady: float


class _Reckoning:
    """What this process knows of Postgres's clock."""

    anchor: _Anchor | None = None
    limit: dt.timedelta | None = None
    """How far the host's clock may be away; None: this process does not watch its clock."""


_reckoning: Final = _Reckoning()


def now() -> dt.datetime:
    """The current instant, aware, in UTC: Postgres's, once this process has compared."""
    anchor = _reckoning.anchor
    if anchor is None:
        return host()
    return anchor.at + dt.timedelta(seconds=steady() - anchor.steady)


def compare(database: dt.datetime, *, at: float) -> None:
    """Take Postgres's time over.

    Args:
        database: what Postgres said.
        at: the instant of `steady()` at which it said so.
    """
    _reckoning.anchor = _Anchor(database, at)


def watch(*, limit: dt.timedelta) -> None:
    """From now on trust the host's clock only within `limit` of Postgres's."""
    _reckoning.limit = limit


def forget() -> None:
    """Neither watch nor know Postgres's clock any more."""
    _reckoning.anchor = _reckoning.limit = None


def skew() -> dt.timedelta:
    """How far the host's clock is ahead of Postgres's; zero while it was never compared."""
    return host() - now() if _reckoning.anchor is not None else AT_ONCE


def is_trusted() -> bool:
    """Whether this process may work by its host's clock: always, where nobody watches it."""
    limit = _reckoning.limit
    return limit is None or (_reckoning.anchor is not None and abs(skew()) <= limit)


def monotonic() -> float:
    """Seconds that never go back: for measuring how long something took."""
    return time.monotonic()


def jitter() -> float:
    """One draw from [0, 1)."""
    return _chance.random()


def new_notification_id() -> UUID:
    """A fresh notification id of this millisecond."""
    return ids.notification_id(
        at_ms=(now() - _EPOCH) // _MILLISECOND, entropy=secrets.randbits(ids.RANDOM_BITS)
    )


AT_ONCE = dt.timedelta(0)
"""No wait: due now, by whichever clock decides."""
