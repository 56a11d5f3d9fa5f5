"""The metrics of accept, added once for each transaction."""

from __future__ import annotations

import functools
from collections import Counter
from collections.abc import Sequence

from prometheus_client import Counter as Metric

from notifications.core.intake.plan import Plan
from notifications.core.rules.lane import LANES, Lane, Mode
from notifications.core.rules.states import Status
from notifications.core.store.redis import metric_counters
from notifications.core.telemetry import instruments


def start_at_zero() -> None:
    """Create the series of the live lanes; `rate` does not see the first count of a new series."""
    for lane in LANES:
        if lane.mode is Mode.LIVE:
            labels = (lane.mode.label, lane.priority.name, lane.channel.label)
            instruments.DELIVERIES.labels(*labels)


def record(plans: Sequence[Plan], *, seconds: float) -> None:
    """Count the stored notifications and deliveries.

    Args:
        plans: the stored requests of one transaction.
        seconds: the time to check and store the requests.
    """
    if not instruments.are_on():
        return
    instruments.ACCEPT_SECONDS.observe(seconds)
    notifications = Counter([(int(plan.mode), plan.response["priority"]) for plan in plans])
    for (mode, priority), count in notifications.items():
        _accept_counter(mode, priority).inc(count)
    deliveries = Counter([
        (int(plan.mode), int(each.priority), int(each.channel))
        for plan in plans
        for each in plan.deliveries
    ])
    for numbers, count in deliveries.items():
        _deliveries(*numbers).inc(count)


@functools.cache
def _accept_counter(mode: int, priority: str) -> Metric:
    return instruments.ACCEPTED.labels(Mode(mode).label, priority)


@functools.cache
def _deliveries(mode: int, priority: int, channel: int) -> Metric:
    lane = Lane.of(mode, priority, channel)
    return instruments.DELIVERIES.labels(lane.mode.label, lane.priority.name, lane.channel.label)


def count_stopped(plans: Sequence[Plan]) -> None:
    """Count the live deliveries suppressed at accept, by reason."""
    stopped = [
        delivery.reason
        for plan in plans
        if plan.mode is Mode.LIVE
        for delivery in plan.deliveries
        if delivery.status == Status.SUPPRESSED
    ]
    if stopped:
        metric_counters.count_moves(Status.SUPPRESSED, stopped)
