"""Doubts about a provider's receipts that call addresses dead.

A provider that reports most of its messages as bounced is probably wrong, or our account is: the
rule of the circuit breakers for answers (`rules.rate_limits.circuit_breaker`) holds for receipts.
In a window of five minutes the reports of dead addresses are counted against the larger of two
numbers, the reports of dead addresses and of success together, and the accepted calls: some
providers report failures alone. If at least `REFUSAL_SAMPLE` reports are more than half of that
number, `REFUSALS_BELIEVED` of the window are believed. For an hour after a doubt, reports are
believed only if the number is large enough.

A complaint and an opt-out are a person's decision, and are never doubted. A report in doubt changes
no contact; the next message to the address brings the next report. A repeated report of a delivery
counts once. `lua/bounces_told.lua` keeps the counts in Redis; while Redis is away, each callback is
judged alone.
"""

from __future__ import annotations

import threading
from collections import Counter
from collections.abc import Collection, Iterable
from typing import Final, cast
from uuid import UUID

import orjson
from django.db import Error

from notifications.core import clock
from notifications.core.rules.rate_limits.circuit_breaker import (
    REFUSAL_SAMPLE,
    REFUSALS_BELIEVED,
    BreakerOverride,
    HealthKey,
    Thresholds,
)
from notifications.core.store.cached import provider_overrides
from notifications.core.store.rate_limits import circuit_breakers
from notifications.core.store.rate_limits.circuit_breakers import KEPT_OPEN, MILLISECOND
from notifications.core.store.redis import state
from providers.contract import Channel

_RULE: Final = Thresholds()
_REPORT_EVERY: Final = 1.0
"""Receipts of success alone are written at most once in so many seconds."""
_LISTED: Final = 10_000
"""Deliveries of a window whose repeated reports are known."""
_SHARED: Final = orjson.dumps({
    "believed": REFUSALS_BELIEVED,
    "kept": KEPT_OPEN // MILLISECOND,
    "listed": _LISTED,
    "sample": REFUSAL_SAMPLE,
    "share": _RULE.refused_share,
    "slot": _RULE.slot_ms,
    "slots": _RULE.slots,
})


class _ArrivalCounts:
    """Receipts of success of the process, before the write to Redis."""

    def __init__(self) -> None:
        self.lock = threading.Lock()
        self.clear()

    def clear(self) -> None:
        self.arrived: Counter[str] = Counter()
        self.reported_at: dict[str, float] = {}

    def take(self, provider: str, arrived: int, *, at_once: bool) -> int | None:
        """Return the count to write now; None: later."""
        with self.lock:
            waited = self.arrived.pop(provider, 0) + arrived
            due = self.reported_at.get(provider, -_REPORT_EVERY) + _REPORT_EVERY
            if not at_once and clock.monotonic() < due:
                self.arrived[provider] = waited
                return None
            self.reported_at[provider] = clock.monotonic()
            return waited


_arrival_counts = _ArrivalCounts()


def forget() -> None:
    """Drop the receipts that are not written."""
    _arrival_counts.clear()


def believed(
    provider: str, channels: Iterable[Channel], *, dead: Collection[UUID], arrived: int
) -> int:
    """Count receipts; return the number of the dead addresses that are believed. Raises nothing.

    Args:
        provider: the provider that reports.
        channels: the channels of the provider.
        dead: the deliveries with a report of a dead address, without complaints.
        arrived: receipts of success.
    """
    known = sorted(channels)
    if not dead and not arrived:
        return 0
    waited = _arrival_counts.take(provider, arrived, at_once=bool(dead))
    if waited is None:
        return 0
    try:
        forced = provider_overrides.current().forced
        keys = [f"bounces:{provider}", f"bounces:{provider}:deliveries"]
        keys += [circuit_breakers.key(HealthKey(provider, each)) for each in known]
        arguments: list[str | int | float | bytes] = [_SHARED, waited]
        arguments += [each.bytes for each in dead]
        trusted = cast("int", state.call("bounces_told", keys, arguments))
    except (state.Away, Error):
        return _judge_alone(len(dead), waited)
    is_ignored = any(forced.get((provider, each)) is BreakerOverride.CLOSED for each in known)
    return len(dead) if is_ignored else trusted


def _judge_alone(dead: int, arrived: int) -> int:
    is_wave = dead >= REFUSAL_SAMPLE and dead > _RULE.refused_share * (dead + arrived)
    return min(dead, REFUSALS_BELIEVED) if is_wave else dead
