"""Rate limits of producers: a token bucket per producer and mode, in the state Redis.

A notification costs 1, and so does each other write. Over all processes a producer gets at most the
burst at once, and the configured rate afterwards. A call that costs more than the burst is granted
when the bucket is full; the next call waits until the cost is paid off. While the state Redis is
away, every process keeps buckets in memory.
"""

from __future__ import annotations

import dataclasses
import datetime as dt
import threading
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final, cast

from notifications.core import clock
from notifications.core.rules.lane import Mode
from notifications.core.store.redis import state

_MICROSECOND: Final = dt.timedelta(microseconds=1)
_SECOND_US: Final = 1_000_000


@dataclass(frozen=True, slots=True, kw_only=True)
class Quota:
    """The answer of a limit."""

    granted: bool
    burst: int
    """Size of the burst, in notifications."""
    remaining: int
    """Notifications left in the burst."""
    window: dt.timedelta
    """Time in which an empty bucket fills."""
    full_in: dt.timedelta
    """Time until the bucket is full."""
    retry_after: dt.timedelta
    """Time until a refused call would be granted; zero for a granted call."""
    taken: int = 0
    """Amount taken, if a part of the charge may be taken."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Charge:
    """The cost of a call."""

    producer_id: int
    mode: Mode
    cost: int
    """Notifications, or other writes."""
    rate_per_second: int
    burst: int

    @property
    def price(self) -> float:
        """Microseconds per notification; a rate of zero counts as 1 per second."""
        return _SECOND_US / max(1, self.rate_per_second)

    @property
    def bucket(self) -> str:
        """The bucket's name."""
        return f"limit:{self.mode.label}:{self.producer_id}"


def take(charges: Sequence[Charge]) -> list[Quota]:
    """Charge the buckets in a round trip; a charge is granted as a whole or refused."""
    arguments: list[str | int | float | bytes] = [
        part for each in charges for part in (each.price, each.burst, each.cost)
    ]
    try:
        answers = cast(
            "list[list[int]]", state.call("gcra", [each.bucket for each in charges], arguments)
        )
    except state.Away:
        answers = [_take_locally(each) for each in charges]
    return [_quota(each, *answer) for each, answer in zip(charges, answers, strict=True)]


def take_some(charge: Charge, *, share: int = 1) -> Quota:
    """Take as much of a charge as the producer's bucket holds; return the resulting quota.

    Args:
        charge: the requested cost.
        share: divisor: take at most the content of the bucket divided by `share`.
    """
    [quota] = take([dataclasses.replace(charge, cost=0)])
    some = min(charge.cost, quota.remaining // share)
    if some:
        [quota] = take([dataclasses.replace(charge, cost=some)])
    return dataclasses.replace(quota, taken=some if quota.granted else 0)


def _quota(charge: Charge, granted: int, remaining: int, full_in: int, wait: int) -> Quota:
    return Quota(
        granted=bool(granted),
        burst=charge.burst,
        remaining=remaining,
        window=charge.price * charge.burst * _MICROSECOND,
        full_in=full_in * _MICROSECOND,
        retry_after=wait * _MICROSECOND,
    )


def forget() -> None:
    """Empty the buckets of this process."""
    _paid_at.clear()


_paid_at: dict[str, float] = {}
"""Buckets of this process: name -> monotonic microseconds."""
_lock = threading.Lock()


def _take_locally(charge: Charge) -> list[int]:
    """Do the arithmetic of `lua/gcra.lua` with the process's clock."""
    name, price = charge.bucket, charge.price
    room, wanted = charge.burst * price, charge.cost * price
    with _lock:
        now = clock.monotonic() * _SECOND_US
        owed = max(_paid_at.get(name, now) - now, 0)
        granted = not owed or owed + wanted <= room
        wait = 0.0 if granted else min(owed, owed + wanted - room)
        if granted:
            owed += wanted
            _paid_at[name] = now + owed
    return [int(granted), max(0, int((room - owed) / price)), int(owed), int(wait)]
