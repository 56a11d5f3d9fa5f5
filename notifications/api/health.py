"""`/healthz`, `/readyz` and `/metrics`: for probes and dashboards. No key, nothing personal.

* `/healthz`: this process answers.
* `/readyz`: 503 only when nothing could be stored, because then no request can succeed: the
  database is away, takes no writes or has no room, or this host's clock is not the database's. A
  broker that is away, a dead beat or a lane that is behind leave accepting safe: 200, `degraded`,
  with what is wrong.
* `/metrics`: the same for Prometheus, and this process's own figures.

A dead beat cannot tell of itself, so whoever asks here makes this process look and raise the alert.
"""

from __future__ import annotations

import contextlib
import datetime as dt
from collections.abc import Iterator, Mapping
from typing import Any, Final

import prometheus_client
from django.db import Error, connection
from drf_spectacular.utils import extend_schema
from prometheus_client import CollectorRegistry
from prometheus_client.core import CounterMetricFamily, GaugeMetricFamily
from rest_framework.renderers import BaseRenderer
from rest_framework.request import Request
from rest_framework.response import Response

from notifications import broker, clock
from notifications.api.base_view import OpenDoor
from notifications.models import Alert, SweepRun
from notifications.rules.lane import LANES
from notifications.store.postgres import backlog, db, disk, host_clock, session_settings
from notifications.store.rate_limits import breaker_status
from notifications.store.redis import metric_counters, state
from notifications.sweeps import overdue

Family = GaugeMetricFamily | CounterMetricFamily
BEHIND: Final = dt.timedelta(seconds=15)
"""What is due is taken within a second or two; this is not a hiccup any more."""


class Alive(OpenDoor):
    """The process."""

    needs_clock = False

    @extend_schema(exclude=True)
    def get(self, request: Request) -> Response:  # noqa: ARG002 - DRF's signature
        """It answers."""
        return Response({"status": "ok"})


class Ready(OpenDoor):
    """The service."""

    needs_clock = False

    @extend_schema(exclude=True)
    def get(self, request: Request) -> Response:  # noqa: ARG002 - DRF's signature
        """What works and what does not."""
        try:
            wrong = _what_stops()
            told = {"status": "unavailable", **wrong} if wrong else _look()
        except Error:
            connection.close()
            wrong = {"database": "away"}
            told = {"status": "unavailable", **wrong}
        return Response(told, status=503 if wrong else 200)


class PlainText(BaseRenderer):
    """Prometheus's text format, as it comes."""

    media_type = "text/plain"
    format = "txt"
    charset = None

    def render(
        self,
        data: Any,  # noqa: ANN401 - DRF's signature
        accepted_media_type: str | None = None,  # noqa: ARG002 - DRF's signature
        renderer_context: Mapping[str, Any] | None = None,  # noqa: ARG002 - DRF's signature
    ) -> bytes:
        """Pass the text on."""
        return data if isinstance(data, bytes) else str(data).encode()


class Metrics(OpenDoor):
    """The figures."""

    needs_clock = False
    renderer_classes = (PlainText,)

    @extend_schema(exclude=True)
    def get(self, request: Request) -> Response:  # noqa: ARG002 - DRF's signature
        """In Prometheus's text format."""
        ours = CollectorRegistry()
        ours.register(_Figures())
        text = prometheus_client.generate_latest() + prometheus_client.generate_latest(ours)
        return Response(text, content_type=prometheus_client.CONTENT_TYPE_PLAIN_0_0_4)


def _what_stops() -> dict[str, str]:
    """Why this process can take no request; empty while it can."""
    if said := host_clock.said():
        return {"clock": said}
    if not db.is_writable():
        connection.close()  # a failover: the next session may find the new primary
        return {"database": "takes no writes"}
    if disk.is_full():
        return {"database": "its disk is full: make room on it"}
    return {}


def _look() -> dict[str, Any]:
    ages = _sweep_ages()
    behind = {found.lane.name: found for found in backlog.of_lanes()}
    is_taking = broker.probe()
    wrong = [f"{name} is behind" for name, found in behind.items() if found.behind > BEHIND]
    wrong += [
        f"{row} rests: {standing.why or 'an operator has opened its breaker'}"
        for row, standing in breaker_status.noted().values()
        if standing.is_open
    ]
    if not is_taking:
        wrong.append("the broker is away: workers take what is due from the database")
    wrong += [trouble.text for trouble in overdue.look()]
    wrong += [
        f"database sessions have {name}={value}, not {session_settings.WANTED[name]}: run"
        " `manage.py migrate` as the role of the processes"
        for name, value in session_settings.missing().items()
    ]
    return {
        "status": "degraded" if wrong else "ready",
        "wrong": wrong,
        "database": "ok",
        "broker": "ok" if is_taking else "away",
        "sweeps": {name: round(age.total_seconds(), 1) for name, age in ages.items()},
        "lanes": {
            name: {"due": found.due, "behind_seconds": round(found.behind.total_seconds(), 1)}
            for name, found in behind.items()
        },
    }


def _sweep_ages() -> dict[str, dt.timedelta]:
    """How long ago each sweep last began."""
    now = clock.now()
    return {run.name: now - run.started_at for run in SweepRun.objects.order_by("name")}


class _Figures:
    """What the database and the state Redis know, asked at each scrape."""

    def collect(self) -> Iterator[Family]:
        """Yield each family; without a database only the one that says so."""
        up = GaugeMetricFamily("notifications_database_up", "1 when the database answers")
        try:
            families = list(_from_database())
        except Error:
            connection.close()
            families = []
        up.add_metric([], float(bool(families)))
        yield up
        yield from families
        with contextlib.suppress(state.Away):
            yield from _tallies()


def _from_database() -> Iterator[Family]:
    ages = _sweep_ages()
    overdue.look()
    yield _family(
        "sweep_age_seconds",
        "Seconds since a sweep last began",
        "sweep",
        {name: age.total_seconds() for name, age in ages.items()},
    )
    found = backlog.of_lanes()
    nothing = dict.fromkeys((lane.name for lane in LANES), 0.0)
    yield _family(
        "due",
        f"Deliveries due and not taken, counted up to {backlog.COUNTED} for each status",
        "lane",
        nothing | {one.lane.name: float(one.due) for one in found},
    )
    yield _family(
        "behind_seconds",
        "How long the oldest of them has been due",
        "lane",
        nothing | {one.lane.name: one.behind.total_seconds() for one in found},
    )
    letters = {reason: float(count) for reason, count in backlog.dead_letters().items()}
    yield _family("dead_letters_open", "Dead letters that nobody has resolved", "reason", letters)
    yield from _breakers()
    alerts_open = Alert.objects.filter(resolved_at=None).count()
    yield GaugeMetricFamily("notifications_alerts_open", "Open alerts", value=alerts_open)


def _breakers() -> Iterator[Family]:
    """Of each breaker that ever tripped or was forced."""
    labels = ["provider", "channel"]
    is_open = GaugeMetricFamily(
        "notifications_breaker_open", "1 while a provider is given a rest", labels=labels
    )
    events = CounterMetricFamily(
        "notifications_breaker_events", "What breakers did", labels=[*labels, "event"]
    )
    for (provider, channel), (row, standing) in breaker_status.noted().items():
        is_open.add_metric([provider, channel.label], float(standing.is_open))
        for event, count in (("trip", row.trips), ("probe", row.probes), ("close", row.closes)):
            events.add_metric([provider, channel.label, event], count)
    yield is_open
    yield events


def _tallies() -> Iterator[Family]:
    """Counted as it happened, in the state Redis.

    Raises:
        state.Away: then these families are missing.
    """
    moved = CounterMetricFamily(
        "notifications_moved",
        "Deliveries that were held (scheduled), released (queued), dropped or too late, and why",
        labels=["status", "reason"],
    )
    for (status, reason), count in metric_counters.moves().items():
        moved.add_metric([status, reason], count)
    yield moved
    left = CounterMetricFamily(
        "notifications_opt_outs", "What people stopped: a category, or a channel", labels=["cause"]
    )
    for cause, count in metric_counters.opt_outs().items():
        left.add_metric([cause], count)
    yield left
    labels = ["provider"]
    limit = GaugeMetricFamily(
        "notifications_calls_limit",
        "Calls that may be in flight at a provider now, over all worker processes",
        labels=labels,
    )
    in_flight = GaugeMetricFamily(
        "notifications_calls_in_flight", "Calls that are in flight at a provider", labels=labels
    )
    for provider, figures in metric_counters.in_flight().items():
        limit.add_metric([provider], figures.limit)
        in_flight.add_metric([provider], figures.in_flight)
    yield limit
    yield in_flight


def _family(name: str, said: str, label: str, values: Mapping[str, float]) -> GaugeMetricFamily:
    family = GaugeMetricFamily(f"notifications_{name}", said, labels=[label])
    for value_of, value in values.items():
        family.add_metric([value_of], value)
    return family
