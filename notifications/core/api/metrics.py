"""`/metrics` of the web processes: figures of the installation, and the instruments of the host.

The figures of the installation come from the database, the state Redis and the broker. While one of
the three is away, its metrics are missing; `notifications_database_up` is 0 without the database,
and with one that does not answer all questions within `_SLOWEST` seconds.
No API key, no personal data.
"""

from __future__ import annotations

import contextlib
from collections.abc import Iterator, Mapping
from enum import Enum
from typing import Any, Final

import prometheus_client
from django.db import Error, connection
from drf_spectacular.utils import extend_schema
from prometheus_client.core import CounterMetricFamily, GaugeMetricFamily
from prometheus_client.registry import Collector
from rest_framework.renderers import BaseRenderer
from rest_framework.request import Request
from rest_framework.response import Response

from notifications.core import clock, lanes
from notifications.core.api import health
from notifications.core.api.base_view import OpenView
from notifications.core.delivery import routing
from notifications.core.models import Alert
from notifications.core.rules import lane_lag as lag_rules
from notifications.core.rules.lane import EXPAND, LANES, OPS, TELL
from notifications.core.rules.reach import ReachResult
from notifications.core.store.cached import paused_lanes, shared_answers
from notifications.core.store.postgres import (
    backlog,
    fallbacks,
    lane_lag,
    rollups,
    service_levels,
    session_settings,
    time_limit,
    unreachable,
)
from notifications.core.store.rate_limits import breaker_status
from notifications.core.store.redis import metric_counters, reach, state
from notifications.core.sweeps import overdue
from notifications.core.telemetry import exposition

_UNREACHABLE_KEPT: Final = 60.0
"""Seconds for which a process keeps the answer: the invariant costs some milliseconds."""
_SLOWEST: Final = 8.0
"""Seconds for the reads of the database; Prometheus ends a scrape after ten."""
Family = GaugeMetricFamily | CounterMetricFamily
_GAUGE, _COUNTER = GaugeMetricFamily, CounterMetricFamily
_QUEUES: Final = (
    *(lane.name for lane in LANES),
    *(OPS, TELL, EXPAND),
)


class Metric(Enum):
    """A metric: Prometheus type, name without the prefix `notifications_`, help text and labels."""

    DATABASE_UP = _GAUGE, "database_up", "1 while the database answers"
    SWEEP_AGE = _GAUGE, "sweep_age_seconds", "Seconds since a sweep last began", "sweep"
    DUE = (
        _GAUGE,
        "due",
        "Lag of a lane: deliveries that are due and not claimed, estimated above 100,000",
        "lane",
    )
    BEHIND = _GAUGE, "behind_seconds", "Lag of a lane: age of the oldest due delivery", "lane"
    RETRYING = (
        _GAUGE,
        "retrying",
        "Deliveries of live mode that wait for a retry, counted each minute up to 20,000",
        "priority",
    )
    LAG_AGE = _GAUGE, "lag_sample_age_seconds", "Age of the figures of the lag of the lanes"
    REFUSES = _GAUGE, "refuses", "1 while the lag of a P3 lane refuses new posts with 429", "lane"
    DROPS = _GAUGE, "drops", "1 while the lag of a P3 lane drops stale deliveries", "lane"
    WORKERS_WANTED = (
        _GAUGE,
        "workers_wanted",
        "Worker processes of P2 and P3 that the lag recommends, over all channels",
        "priority",
    )
    REACH = (
        _GAUGE,
        "reach",
        "Live notifications of three days by result over all channels, or a sample of them",
        "priority",
        "result",
    )
    DEAD_LETTERS = _GAUGE, "dead_letters_open", "Open dead letters of live mode", "reason"
    BREAKER_OPEN = (
        _GAUGE,
        "breaker_open",
        "1 while the circuit breaker of a provider is open",
        "provider",
        "channel",
    )
    BREAKER_EVENTS = (
        _COUNTER,
        "breaker_events",
        "Trips, probes and closings of a circuit breaker",
        "provider",
        "channel",
        "event",
    )
    PROCESSES_WITHOUT = (
        _GAUGE,
        "processes_without",
        "Processes that work by a fallback without: broker, state, flight_recorder or replica",
        "server",
    )
    LANE_PAUSED = _GAUGE, "lane_paused", "1 while the tasks of a lane fail and it is paused", "lane"
    UNREACHABLE = (
        _GAUGE,
        "unreachable",
        "Deliveries in a state that no step moves, at most 1,000; 0 unless the service has a bug",
    )
    ALERTS_OPEN = _GAUGE, "alerts_open", "Open alerts"
    MOVED = (
        _COUNTER,
        "moved",
        "Deliveries that became scheduled, queued, suppressed or expired, by reason",
        "status",
        "reason",
    )
    OPT_OUTS = _COUNTER, "opt_outs", "Opt-outs of recipients from a category or a channel", "cause"
    ROLLUPS_BEHIND = (
        _GAUGE,
        "rollups_behind_seconds",
        "Age of the oldest event that the roll-ups do not count yet",
    )
    CALLS_LIMIT = (
        _GAUGE,
        "calls_limit",
        "Most calls that may be in flight at a provider now, over all worker processes",
        "provider",
    )
    CALLS_IN_FLIGHT = _GAUGE, "calls_in_flight", "Calls in flight at a provider", "provider"
    QUEUE_MESSAGES = (
        _GAUGE,
        "queue_messages",
        "Messages that wait in a queue of the broker; of P2 and P3 each has up to 500 deliveries",
        "queue",
    )
    DATABASE_CONNECTIONS = (
        _GAUGE,
        "database_connections",
        "Connections of all processes to the database by state",
        "state",
    )
    DATABASE_CONNECTIONS_LIMIT = (
        _GAUGE,
        "database_connections_limit",
        "Most connections that the database server takes (max_connections)",
    )

    def __init__(self, of: type[Family], name: str, sentence: str, *labels: str) -> None:
        self.of = of
        self.full_name = f"notifications_{name}"
        self.sentence = sentence
        self.labels = labels

    def family(self) -> Family:
        """Return an empty family: the caller adds the samples."""
        return self.of(self.full_name, self.sentence, labels=list(self.labels))


class PlainText(BaseRenderer):
    """Renders text in Prometheus's format unchanged."""

    media_type = "text/plain"
    format = "txt"
    charset = None

    def render(
        self,
        data: Any,  # noqa: ANN401 - DRF's signature
        accepted_media_type: str | None = None,  # noqa: ARG002 - DRF's signature
        renderer_context: Mapping[str, Any] | None = None,  # noqa: ARG002 - DRF's signature
    ) -> bytes:
        """Encode the text."""
        return data if isinstance(data, bytes) else str(data).encode()


class MetricsView(OpenView):
    """`GET /metrics`."""

    needs_clock = False
    renderer_classes = (PlainText,)

    @extend_schema(exclude=True)
    def get(self, request: Request) -> Response:  # noqa: ARG002 - DRF's signature
        """Answer with every metric in Prometheus's text format."""
        text = exposition.text(_Collector())
        return Response(text, content_type=prometheus_client.CONTENT_TYPE_PLAIN_0_0_4)


class _Collector(Collector):
    """Reads the database and the state Redis at each scrape."""

    def collect(self) -> Iterator[Family]:
        """Yield each family; without a database only DATABASE_UP and those of the state Redis."""
        up = Metric.DATABASE_UP.family()
        try:
            with time_limit.of_session(seconds=_SLOWEST):
                families = list(_from_database())
        except (Error, time_limit.TooSlow):
            connection.close()
            families = []
        up.add_metric([], float(bool(families)))
        yield up
        yield from families
        with contextlib.suppress(state.Away):
            yield from _from_state()
        with contextlib.suppress(lanes.BrokerAway):
            yield _one_label(Metric.QUEUE_MESSAGES, lanes.depths(_QUEUES))


def _from_database() -> Iterator[Family]:
    overdue.look()
    ages = health.sweep_ages()
    yield _one_label(Metric.SWEEP_AGE, {name: age.total_seconds() for name, age in ages.items()})
    yield from _lag()
    retrying = service_levels.retrying(now=clock.now())
    yield _one_label(Metric.RETRYING, {each.name: n for each, n in retrying.items()})
    yield _one_label(Metric.DEAD_LETTERS, backlog.dead_letters())
    yield from _breakers()
    behind_of_rollups = Metric.ROLLUPS_BEHIND.family()
    behind_of_rollups.add_metric([], rollups.lag(now=clock.now()).total_seconds())
    yield behind_of_rollups
    sessions = session_settings.count_sessions()
    yield _one_label(Metric.DATABASE_CONNECTIONS, sessions.by_state)
    limit = Metric.DATABASE_CONNECTIONS_LIMIT.family()
    limit.add_metric([], sessions.limit)
    yield limit
    yield _one_label(Metric.PROCESSES_WITHOUT, fallbacks.counts(now=clock.now()))
    alerts = Metric.ALERTS_OPEN.family()
    alerts.add_metric([], Alert.objects.filter(resolved_at=None).count())
    yield alerts
    paused = paused_lanes.current()
    yield _one_label(Metric.LANE_PAUSED, {lane.name: float(lane.name in paused) for lane in LANES})
    lost = Metric.UNREACHABLE.family()
    lost.add_metric(
        [], len(shared_answers.get("unreachable", unreachable.find, seconds=_UNREACHABLE_KEPT))
    )
    yield lost


def _lag() -> Iterator[Family]:
    """Yield the lag of each lane, its age, and the effect of back-pressure."""
    now = clock.now()
    lags = {each.lane: each for each in lane_lag.newest(now=now)}
    nothing = dict.fromkeys((lane.name for lane in LANES), 0.0)
    due = {lane.name: float(each.waiting) for lane, each in lags.items()}
    yield _one_label(Metric.DUE, nothing | due)
    behind = {lane.name: each.behind.total_seconds() for lane, each in lags.items()}
    yield _one_label(Metric.BEHIND, nothing | behind)
    age = Metric.LAG_AGE.family()
    age.add_metric(
        [], max(((now - each.sampled_at).total_seconds() for each in lags.values()), default=0.0)
    )
    yield age
    limited = [lane for lane in LANES if lag_rules.is_limited(lane)]
    refuses = {lane.name: float(lane in lags and lags[lane].refuses) for lane in limited}
    yield _one_label(Metric.REFUSES, refuses)
    drops = {lane.name: float(lane in lags and lags[lane].drops) for lane in limited}
    yield _one_label(Metric.DROPS, drops)
    wanted = lag_rules.workers_wanted({lane: each.waiting for lane, each in lags.items()})
    yield _one_label(Metric.WORKERS_WANTED, {each.name: n for each, n in wanted.items()})


def _breakers() -> Iterator[Family]:
    """Yield the families of the circuit breakers; those that never tripped are closed."""
    is_open, events = Metric.BREAKER_OPEN.family(), Metric.BREAKER_EVENTS.family()
    found = breaker_status.with_counts()
    for name, adapter in routing.providers_by_name().items():
        for channel in adapter.capabilities.channels:
            if (name, channel) not in found:
                is_open.add_metric([name, channel.label], 0.0)
    for (provider, channel), (row, status) in found.items():
        is_open.add_metric([provider, channel.label], float(status.is_open))
        for event, count in (("trip", row.trips), ("probe", row.probes), ("close", row.closes)):
            events.add_metric([provider, channel.label, event], count)
    yield is_open
    yield events


def _from_state() -> Iterator[Family]:
    """Yield the families that are counted in the state Redis.

    Raises:
        state.Away: the state Redis is away, so these families are missing.
    """
    moved = Metric.MOVED.family()
    for (status, reason), count in metric_counters.moves().items():
        moved.add_metric([status, reason], count)
    yield moved
    yield _one_label(Metric.OPT_OUTS, metric_counters.opt_outs())
    calls = metric_counters.in_flight()
    limits = {provider: figures.limit for provider, figures in calls.items()}
    yield _one_label(Metric.CALLS_LIMIT, limits)
    in_flight = {provider: figures.in_flight for provider, figures in calls.items()}
    yield _one_label(Metric.CALLS_IN_FLIGHT, in_flight)
    yield _reach()


def _reach() -> Family:
    family, found = Metric.REACH.family(), reach.load()
    for priority, counts in found.of.items() if found else ():
        for result in ReachResult:
            family.add_metric([priority.name, result], counts[result])
    return family


def _one_label(metric: Metric, values: Mapping[str, float]) -> Family:
    """Return the family of a metric with one label; `values`: by the label's value."""
    family = metric.family()
    for label, value in values.items():
        family.add_metric([label], value)
    return family
