"""Permits for provider calls: an adaptive limit on concurrent calls to a provider from one process.

    acquire(provider, wanted) -> permits     at least 1, or 0 after the timeout
    release(provider, permits, calls)        after the calls; the limit adapts to the results

`rules.rate_limits.concurrency.Limit` sets the number of permits. P0 and P1 get free permits first,
and may exceed the limit by an eighth, so that slow calls of P2 and P3 do not delay them. P2 and P3
get permits in waves, because each wave costs a database statement: a wave is a quarter of the
limit. After `_WAVE_SECONDS` without permits for P2 and P3, a wave is as large as the free permits.

Waiting callers hold no lock and do not poll: the caller of `release` hands out permits.
"""

from __future__ import annotations

import os
import threading
from collections import deque
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Final

from notifications.core import clock, conf
from notifications.core.rules.rate_limits.concurrency import CallFields, Ending, Limit
from notifications.core.store.redis import metric_counters
from providers.contract import (
    Accepted,
    Misconfigured,
    NotStarted,
    Outcome,
    Provider,
    Rejected,
    Result,
    Throttled,
    Unanswered,
    Unavailable,
)

_WAVE_SECONDS: Final = 0.1
"""Maximum time that the first waiting caller of P2 or P3 waits for a full wave."""
_NOTE_SECONDS: Final = 1.0
"""Seconds between two metric updates of a provider."""


@dataclass(slots=True, eq=False)
class Place:
    """The place of a task in the line for permits, kept until the task gets permits."""

    since: float | None = None
    """Time of the first request; None: the task has not asked since its last permits."""


def acquire(
    provider: Provider, wanted: int, *, urgent: bool, timeout: float, place: Place | None = None
) -> int:
    """Take 1 to `wanted` permits; returns 0 without a free permit within `timeout` seconds.

    A task that asks again stands before the tasks that came after its first request.
    """
    return _pool_of(provider.name, provider.capabilities.concurrency).acquire(
        wanted, urgent=urgent, timeout=timeout, place=place
    )


def release(provider: Provider, permits: int, results: Iterable[Result]) -> None:
    """Return permits, with the results of the calls that were made."""
    pool = _pool_of(provider.name, provider.capabilities.concurrency)
    pool.release(permits, load_signals(results))
    _note(provider.name, pool)


_ENDINGS: Final[Mapping[type[Outcome], Ending]] = {
    Accepted: Ending.ANSWERED,
    Rejected: Ending.ANSWERED,
    Throttled: Ending.THROTTLED,
    Unanswered: Ending.TIMED_OUT,
    Unavailable: Ending.NOTHING,
    Misconfigured: Ending.NOTHING,
    NotStarted: Ending.NOTHING,
}


def load_signals(results: Iterable[Result]) -> list[CallFields]:
    """Convert results into the load signals for the concurrency limit."""
    signals = []
    for result in results:
        ending = _ENDINGS[type(result.outcome)]
        # A rejection before any call has no latency.
        if ending is Ending.ANSWERED and not result.latency:
            ending = Ending.NOTHING
        own_delay = result.own_delay.total_seconds()
        signals.append((ending, result.latency.total_seconds() - own_delay, own_delay))
    return signals


@dataclass(slots=True, eq=False)
class _Waiter:
    wanted: int
    urgent: bool
    since: float
    woken: threading.Condition
    granted: int = 0


class PermitPool:
    """The permits of one provider. Thread-safe."""

    def __init__(self, limit: Limit) -> None:
        """Create a pool with its own limit."""
        self._limit = limit
        self._lock = threading.Lock()
        self._urgent: deque[_Waiter] = deque()
        self._patient: deque[_Waiter] = deque()
        self._short_since: float | None = None
        """Time since which P2 and P3 have had fewer free permits than a wave."""
        self.noted_at = -_NOTE_SECONDS

    @property
    def limit(self) -> int:
        """Maximum number of calls in flight."""
        return self._limit.value

    @property
    def in_flight(self) -> int:
        """Number of permits in use."""
        return self._limit.in_flight

    def acquire(
        self, wanted: int, *, urgent: bool, timeout: float, place: Place | None = None
    ) -> int:
        """Take permits as the function `acquire`."""
        if wanted < 1:
            return 0
        now = clock.monotonic()
        until = now + timeout
        place = place or Place()
        since = now if place.since is None else place.since
        line = self._urgent if urgent else self._patient
        with self._lock:
            waiter = _Waiter(wanted, urgent, since, threading.Condition(self._lock))
            line.insert(sum(each.since <= since for each in line), waiter)
            self._hand_out()
            while not waiter.granted and (now := clock.monotonic()) < until:
                waiter.woken.wait(self._seconds_to_wait(waiter, until=until, now=now))
                if not waiter.granted:
                    self._hand_out()
            if not waiter.granted:
                line.remove(waiter)
                self._hand_out()
            place.since = None if waiter.granted else since
            return waiter.granted

    def release(self, permits: int, calls: Iterable[CallFields]) -> None:
        """Return permits with the calls' load signals; `calls` may be fewer than `permits`."""
        with self._lock:
            self._limit.record_end(permits, calls, now=clock.monotonic())
            self._hand_out()

    def _seconds_to_wait(self, waiter: _Waiter, *, until: float, now: float) -> float:
        if waiter.urgent or self._short_since is None:
            return until - now
        patience = self._short_since + _WAVE_SECONDS - now
        return min(until - now, patience) if patience > 0 else until - now

    def _hand_out(self) -> None:
        """Give free permits to the first waiting caller. The caller holds the lock."""
        while (waiter := self._first()) is not None:
            room = self._room(waiter)
            if not room:
                return
            if not waiter.urgent:
                self._short_since = None
            waiter.granted = min(waiter.wanted, room)
            self._limit.record_start(waiter.granted)
            (self._urgent if waiter.urgent else self._patient).popleft()
            waiter.woken.notify()

    def _first(self) -> _Waiter | None:
        if self._urgent:
            return self._urgent[0]
        return self._patient[0] if self._patient else None

    def _room(self, waiter: _Waiter) -> int:
        """Return the permits for a caller now; 0 if the caller should wait."""
        limit = self._limit.value
        free = limit - self._limit.in_flight
        if waiter.urgent:
            return max(0, free + max(1, limit // 8))
        wave = min(waiter.wanted, -(-limit // 4))  # rounded up: four waves make the limit
        if free >= wave:
            return free
        now = clock.monotonic()
        if self._short_since is None:
            self._short_since = now
            waiter.woken.notify()  # the caller computes its wait anew, with the time of a wave
        return max(0, free) if now - self._short_since >= _WAVE_SECONDS else 0


_pools: dict[str, PermitPool] = {}
_making = threading.Lock()


def _pool_of(provider: str, concurrency: int) -> PermitPool:
    pool = _pools.get(provider)
    if pool is None:
        with _making:
            ceiling = min(concurrency, conf.current().calls_in_flight)
            pool = _pools.setdefault(provider, PermitPool(Limit(ceiling=ceiling)))
    return pool


def _note(provider: str, pool: PermitPool) -> None:
    """Update the metrics, at most once in `_NOTE_SECONDS`. Concurrent updates are harmless."""
    now = clock.monotonic()
    if now - pool.noted_at >= _NOTE_SECONDS:
        pool.noted_at = now
        metric_counters.note_in_flight(provider, limit=pool.limit, in_flight=pool.in_flight)


def forget() -> None:
    """Reset in the child of a fork: the parent's calls and locks do not exist in the child."""
    global _making  # noqa: PLW0603 - replaced as a whole, as the lock cannot be released here
    _making = threading.Lock()
    _pools.clear()


os.register_at_fork(after_in_child=forget)
