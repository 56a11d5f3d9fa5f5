"""The metrics of provider calls, added once for each group of results.

Counters cover both modes. Histograms cover live mode, because the sandbox answers test deliveries.
"""

from __future__ import annotations

import datetime as dt
from collections import Counter, defaultdict
from collections.abc import Iterable, Sequence
from typing import Final

import structlog
from django.db import Error

from notifications.core.delivery.claimed import ClaimedDelivery
from notifications.core.delivery.provider_health import is_of_one_message
from notifications.core.rules import ids
from notifications.core.rules.lane import Lane, Mode, Priority
from notifications.core.rules.times.stages import Stage
from notifications.core.store.postgres import attempts
from notifications.core.telemetry import instruments, traces
from providers.contract import (
    Accepted,
    Channel,
    NotStarted,
    Outcome,
    Provider,
    Repeat,
    Result,
)

Pair = tuple[ClaimedDelivery, Result]
REFUSED_PART: Final = "refused_part"
"""The label of a `Rejected` with a refused part."""
_log = structlog.get_logger(__name__)


def record(pairs: Sequence[Pair], *, provider: Provider, now: dt.datetime) -> None:
    """Count results, retries and repeats, and observe latencies.

    Args:
        pairs: deliveries and the results of their calls.
        provider: the called provider.
        now: the time on Postgres's clock, shortly after the results.
    """
    if not instruments.are_on():
        return
    by_lane: dict[tuple[Mode, Priority, Channel], list[Pair]] = defaultdict(list)
    for pair in pairs:
        row = pair[0].delivery
        by_lane[row.mode, row.priority, row.channel].append(pair)
    for (mode, priority, channel), together in by_lane.items():
        lane = Lane.of(mode, priority, channel)
        labels = (lane.mode.label, lane.priority.name, lane.channel.label)
        outcomes = Counter([
            "accepted" if each.outcome.__class__ is Accepted else _name_of(each.outcome)
            for _, each in together
        ])
        for outcome, count in outcomes.items():
            instruments.CALLS.labels(*labels, provider.name, outcome).inc(count)
        if retries := len([claimed for claimed, _ in together if claimed.call > 1]):
            instruments.RETRIES.labels(*labels, provider.name).inc(retries)
            if repeats := _repeats(together, provider):
                instruments.REPEATS.labels(*labels, provider.name).inc(repeats)
        if lane.mode is Mode.LIVE:
            _observe(together, lane, provider=provider.name, now=now)


def _name_of(outcome: Outcome) -> str:
    """Return the name of an outcome; a refusal of one message's part is no rejection here.

    A share of rejected calls tells of the provider, as the windows of the circuit breakers do.
    """
    return REFUSED_PART if is_of_one_message(outcome) else outcome.__class__.__name__.lower()


def _repeats(pairs: Sequence[Pair], provider: Provider) -> int:
    """Count the accepted calls after a call with a message that the person may have seen."""
    calls = {
        claimed.delivery.id: claimed.call
        for claimed, result in pairs
        if claimed.call > 1 and isinstance(result.outcome, Accepted)
    }
    if not calls:
        return 0
    is_visible = provider.capabilities.repeat is Repeat.VISIBLE
    try:
        return attempts.perhaps_seen_before(calls, provider=provider.name, is_visible=is_visible)
    except Error as error:
        # The outcomes are committed: without this count nothing else may fail.
        _log.warning("repeats_not_counted", provider=provider.name, error=type(error).__name__)
        return 0


def observe_settlement(*, seconds: float) -> None:
    """Observe the time of the transaction that stored the outcomes of a group."""
    if instruments.are_on():
        instruments.SETTLE_SECONDS.observe(seconds)


def _observe(pairs: Sequence[Pair], lane: Lane, *, provider: str, now: dt.datetime) -> None:
    """Observe the latencies of live calls, the lag of retries, and first calls since accept.

    The time from accept means nothing after a wait that the producer or a replay chose.
    """
    now_s = now.timestamp()
    latencies, called, sent, retried = [], [], [], []
    for claimed, result in pairs:
        if isinstance(result.outcome, NotStarted):
            continue
        latency = result.latency.total_seconds()
        latencies.append(latency)
        if claimed.call == 1 and not claimed.notification.is_scheduled:
            since_accept = max(0.0, now_s - ids.milliseconds(claimed.delivery.id) / 1000)
            called.append(max(0.0, since_accept - latency))
            if isinstance(result.outcome, Accepted):
                sent.append(since_accept)
        due_at = claimed.delivery.retry_due_at
        if due_at is not None and claimed.call == claimed.delivery.attempts + 1:
            retried.append(max(0.0, now_s - latency - due_at.timestamp()))
    instruments.CALL_SECONDS.labels(provider, lane.channel.label).observe_all(latencies)
    if retried:
        lags = instruments.RETRY_LAG_SECONDS.labels(lane.priority.name, lane.channel.label)
        lags.observe_all(retried)
    for stage, seconds in ((Stage.CALLED, called), (Stage.SENT, sent)):
        histogram = instruments.STAGE_SECONDS
        histogram.labels(stage.value, lane.priority.name, lane.channel.label).observe_all(seconds)


def record_spans(pairs: Iterable[tuple[ClaimedDelivery, Result]], *, provider: str) -> None:
    """Record the ended calls with a sampled trace."""
    if not traces.are_on():
        return
    from notifications.core.telemetry import spans  # noqa: PLC0415 - only if spans are exported

    for claimed, result in pairs:
        parent = claimed.notification.traceparent
        if traces.is_sampled(parent) and not isinstance(result.outcome, NotStarted):
            outcome = type(result.outcome).__name__.lower()
            spans.record(
                f"send {claimed.delivery.channel.label}",
                kind=spans.CLIENT,
                parent=parent,
                attributes=_span_attributes(claimed, result, outcome=outcome, provider=provider),
                seconds=result.latency.total_seconds(),
                error="" if isinstance(result.outcome, Accepted) else outcome,
            )


def _span_attributes(
    claimed: ClaimedDelivery, result: Result, *, outcome: str, provider: str
) -> dict[str, str | int]:
    delivery = claimed.delivery
    attributes: dict[str, str | int] = {
        "messaging.system": provider,
        "messaging.operation.type": "send",
        "messaging.operation.name": "send",
        "messaging.message.id": str(delivery.id),
        "messaging.message.conversation_id": str(claimed.notification.id),
        "notifications.attempt": claimed.call,
        "notifications.channel": delivery.channel.label,
        "notifications.mode": delivery.mode.label,
        "notifications.outcome": outcome,
        "notifications.priority": delivery.priority.name,
    }
    if result.http_status is not None:
        attributes["http.response.status_code"] = result.http_status
    return attributes
