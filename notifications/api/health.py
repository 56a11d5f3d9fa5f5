"""`/healthz` and `/readyz`, for probes. No key, nothing personal.

* `/healthz`: this process answers.
* `/readyz`: 503 only when nothing could be stored, because then no request can succeed: the
  database is away, takes no writes, ends no commit or has no room, or this host's clock is not the
  database's. A broker that is away, a process that works by a fallback, a dead beat or a lane that
  is behind leave accepting safe: 200, `degraded`, with what is wrong.

A stopped beat cannot raise an alert, so a request for `/readyz` or `/metrics` checks for overdue
sweeps and raises the alert.
"""

from __future__ import annotations

import datetime as dt
from typing import Any, Final

from django.db import Error, connection
from drf_spectacular.utils import extend_schema
from rest_framework.request import Request
from rest_framework.response import Response

from notifications import broker, clock, server_faults
from notifications.api.base_view import OpenView
from notifications.models import Alert, SweepRun
from notifications.rules.alerts import AlertKind
from notifications.store.postgres import (
    commit_probe,
    db,
    disk,
    fallbacks,
    host_clock,
    lane_lag,
    session_settings,
)
from notifications.store.rate_limits import breaker_status
from notifications.store.redis import state
from notifications.sweeps import overdue

BEHIND: Final = dt.timedelta(seconds=15)
"""A queue is reported as behind after this time. Due deliveries are normally claimed within two
seconds."""

_COMMIT_HINT: Final = "the server is frozen or unreachable, or a synchronous standby is gone"


class LivenessView(OpenView):
    """`/healthz`: liveness."""

    needs_clock = False

    @extend_schema(exclude=True)
    def get(self, request: Request) -> Response:  # noqa: ARG002 - DRF's signature
        """Answer 200 while the process works."""
        return Response({"status": "ok"})


class ReadinessView(OpenView):
    """`/readyz`: readiness."""

    needs_clock = False

    @extend_schema(exclude=True)
    def get(self, request: Request) -> Response:  # noqa: ARG002 - DRF's signature
        """Return the state of database, broker, sweeps and queues; 503 if nothing can be stored."""
        try:
            wrong = _blocking_problems()
            told = {"status": "unavailable", **wrong} if wrong else _status()
        except Error:
            connection.close()
            wrong = {"database": "away"}
            told = {"status": "unavailable", **wrong}
        return Response(told, status=503 if wrong else 200)


def _blocking_problems() -> dict[str, str]:
    """Return the causes for which no request can succeed; empty if there is none."""
    if said := host_clock.fault():
        return {"clock": said}
    if commit_probe.hangs():  # before any statement of this thread, which would hang as well
        seconds = commit_probe.LIMIT.total_seconds()
        return {"database": f"a commit takes over {seconds:g} s: {_COMMIT_HINT}"}
    if not db.is_writable():
        connection.close()  # a failover: the next session may find the new primary
        return {"database": "takes no writes"}
    if disk.is_full():
        return {"database": "its disk is full: make room on it"}
    return {}


def _status() -> dict[str, Any]:
    ages = sweep_ages()
    now = clock.now()
    lags = {found.lane.name: found for found in lane_lag.newest(now=now)}
    waiting = {name: found for name, found in lags.items() if found.is_shown}
    is_taking = broker.probe()
    wrong = [f"{name} is behind" for name, found in waiting.items() if found.behind > BEHIND]
    wrong += [f"{name} refuses new posts with 429" for name, found in lags.items() if found.refuses]
    wrong += [f"{name} drops stale deliveries" for name, found in lags.items() if found.drops]
    wrong += [
        f"{row} rests: {standing.why or 'an operator has opened the breaker'}"
        for row, standing in breaker_status.with_counts().values()
        if standing.is_open
    ]
    wrong += _failing_code()
    wrong += _fallbacks(now, is_taking=is_taking)
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
            name: {
                "due": found.waiting,
                "behind_seconds": round(found.behind.total_seconds(), 1),
                "sample_age_seconds": round((now - found.sampled_at).total_seconds(), 1),
            }
            for name, found in waiting.items()
        },
    }


def _fallbacks(now: dt.datetime, *, is_taking: bool) -> list[str]:
    """Return which servers this process and other processes work without."""
    wrong = []
    if not is_taking:
        fault = broker.fault() or server_faults.AWAY
        wrong.append(f"the broker {fault}: workers take what is due from the database")
    if not state.answers():
        wrong.append("the state Redis is away: evidence of calls and limits are not shared")
    return wrong + fallbacks.current(now=now)


def _failing_code() -> list[str]:
    """Return what the alerts say about paused lanes and unreachable deliveries."""
    kinds = (AlertKind.LANE_PAUSED, AlertKind.DELIVERIES_UNREACHABLE)
    found = Alert.objects.filter(kind__in=kinds, resolved_at=None).order_by("kind", "subject")
    return [
        f"{each.subject} is paused: {each.detail}"
        if each.kind == AlertKind.LANE_PAUSED
        else f"no step takes {each.detail}"
        for each in found
    ]


def sweep_ages() -> dict[str, dt.timedelta]:
    """Return the time since the last start of every sweep."""
    now = clock.now()
    return {run.name: now - run.started_at for run in SweepRun.objects.order_by("name")}
