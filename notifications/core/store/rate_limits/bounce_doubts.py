"""Doubts about a provider's receipts that call addresses dead.

A provider that reports most of its messages as bounced is probably wrong, or our account is: the
rule of the circuit breakers for answers (`rules.rate_limits.circuit_breaker`) holds for receipts.
In a window of five minutes the reports of dead addresses are counted against the larger of two
numbers, the reports of dead addresses and of success together, and the accepted calls: some
providers report failures alone. If at least `REFUSAL_SAMPLE` reports are more than half of that
number, `REFUSALS_BELIEVED` of the window are believed. For an hour after a doubt, reports are
believed only if the number is large enough.

Mail servers give up after hours, so a report can come long after its message. A report about a
message that was accepted before the window is counted apart from the others, against the calls that
the provider accepted in the minutes of these messages, or in the hours if the minutes have few
(`store.postgres.sent_beside`). The two counts are apart because a large job of an hour ago must not
hide a mistake of now.

A complaint and an opt-out are a person's decision, and are never doubted. A report in doubt changes
no contact; the next message to the address brings the next report. A repeated report of a delivery
counts once. `lua/bounces_told.lua` keeps the counts in Redis; while Redis is away, each callback is
judged alone.
"""

from __future__ import annotations

import datetime as dt
import itertools
import threading
from collections import Counter
from collections.abc import Collection, Iterable, Mapping, Sequence
from types import MappingProxyType
from typing import Final, NamedTuple, cast
from uuid import UUID

import orjson

from notifications.core import clock
from notifications.core.rules.rate_limits.circuit_breaker import (
    REFUSAL_SAMPLE,
    REFUSALS_BELIEVED,
    BreakerOverride,
    HealthKey,
    Thresholds,
)
from notifications.core.store.cached import provider_overrides
from notifications.core.store.postgres import sent_beside
from notifications.core.store.rate_limits import circuit_breakers
from notifications.core.store.rate_limits.circuit_breakers import KEPT_OPEN, MILLISECOND
from notifications.core.store.redis import state
from providers.contract import Channel

_RULE: Final = Thresholds()
_WINDOW: Final = dt.timedelta(milliseconds=_RULE.slot_ms * _RULE.slots)
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
    provider: str, channels: Collection[Channel], *, dead: Collection[UUID], arrived: int
) -> set[UUID]:
    """Count receipts; return the deliveries whose dead address is believed.

    Args:
        provider: the provider that reports.
        channels: the channels of the provider.
        dead: the deliveries with a report of a dead address, without complaints.
        arrived: receipts of success.

    Raises:
        django.db.Error: the messages could not be read.
    """
    spans = sent_beside.older_than(_WINDOW, dead, provider=provider) if dead else []
    late = list(itertools.chain.from_iterable(each.deliveries for each in spans))
    fresh = list(set(dead).difference(late))
    trusted: set[UUID] = set()
    if fresh or arrived:
        waited = _arrival_counts.take(provider, arrived, at_once=bool(fresh))
        if waited is not None:
            breakers = [circuit_breakers.key(HealthKey(provider, each)) for each in channels]
            count = _judge(f"bounces:{provider}", breakers, fresh, _Beside(waited))
            trusted.update(fresh[:count])
    if late:
        beside = _Beside(by_span={each.name: each.sent for each in spans})
        trusted.update(late[: _judge(f"bounces:{provider}:late", [], late, beside)])
    return set(dead) if dead and _is_ignored(provider, channels) else trusted


class _Beside(NamedTuple):
    """The numbers that reports of dead addresses are compared with, besides the breakers' calls."""

    arrived: int = 0
    """Receipts of success."""
    by_span: Mapping[str, int] = MappingProxyType({})
    """Accepted calls by the span of the reported messages."""


def _judge(name: str, breakers: Sequence[str], dead: Sequence[UUID], beside: _Beside) -> int:
    """Count reports in the window of a name; return the number of the believed reports."""
    by_span = orjson.dumps(dict(beside.by_span))
    arguments: list[str | int | float | bytes] = [_SHARED, beside.arrived, by_span]
    arguments += [each.bytes for each in dead]
    try:
        keys = [name, f"{name}:deliveries", *sorted(breakers)]
        return cast("int", state.call("bounces_told", keys, arguments))
    except state.Away:
        known = max(len(dead) + beside.arrived, sum(beside.by_span.values()))
        is_wave = len(dead) >= REFUSAL_SAMPLE and len(dead) > _RULE.refused_share * known
        return min(len(dead), REFUSALS_BELIEVED) if is_wave else len(dead)


def _is_ignored(provider: str, channels: Iterable[Channel]) -> bool:
    """Return True if an operator has forced a breaker of the provider closed."""
    forced = provider_overrides.current().forced
    return any(forced.get((provider, each)) is BreakerOverride.CLOSED for each in channels)
