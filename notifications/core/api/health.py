"""`/healthz`, `/startupz` and `/readyz`, for probes. No key, nothing personal.

* `/healthz`: this process answers.
* `/startupz`: 503 until this process has reached its database for the first time, then 200 for the
  rest of its life. A readiness probe asks it: a release with a wrong password replaces no process
  that works, and a database that is away later takes no process out (decision 0051).
* `/readyz`: 503 only when nothing could be stored, because then no request can succeed: the
  database is away, takes no writes, ends no commit or has no room, or this host's clock is not the
  database's. A broker that is away, a process that works by a fallback, a dead beat or a lane that
  is behind leave accepting safe: 200, `degraded`, with what is wrong.

Each part has a time limit, so that a frozen server or a locked table delays the answer by seconds:
a Redis 0.3 s a call, RabbitMQ 3 s, the commit 2 s (`time_limit`), each read of the
database 2 s (`_Parts`). The answer names the part that was not read.

It also names what a start does not check: migrations that are not applied, and a server that drops
keys when its memory is full.

A stopped beat cannot raise an alert, so a request for `/readyz` or `/metrics` checks for overdue
sweeps and raises the alert.
"""

from __future__ import annotations

import contextlib
import datetime as dt
from collections.abc import Callable, Mapping
from typing import Any, Final, TypeVar

from django.db import Error, ProgrammingError, connection
from drf_spectacular.utils import extend_schema
from rest_framework.request import Request
from rest_framework.response import Response

from notifications.core import broker, clock, server_faults, supervised
from notifications.core.api.base_view import OpenView
from notifications.core.models import Alert, SweepRun
from notifications.core.rules.alerts import AlertKind
from notifications.core.store.postgres import (
    db,
    disk,
    fallbacks,
    host_clock,
    lane_lag,
    session_limit,
    session_settings,
    time_limit,
    unapplied_migrations,
)
from notifications.core.store.postgres.backend.hung_servers import HungServerError
from notifications.core.store.rate_limits import breaker_status
from notifications.core.store.redis import state
from notifications.core.sweeps import overdue

BEHIND: Final = dt.timedelta(seconds=15)
"""A queue is reported as behind after this time. Due deliveries are normally claimed within two
seconds."""

_SLOWEST: Final = 2.0
"""Seconds for each read of the database, which takes some milliseconds."""
_MOST_UNREAD: Final = 2
"""Reads that failed, after which the answer leaves the other reads out."""
_FIRST: Final = f"notifications.{unapplied_migrations.FIRST}"
_KEEPS_ALL: Final = "noeviction"
_COMMIT_HINT: Final = "the server is frozen or unreachable, or a synchronous standby is gone"


class LivenessView(OpenView):
    """`/healthz`: liveness."""

    needs_clock = False

    @extend_schema(exclude=True)
    def get(self, request: Request) -> Response:  # noqa: ARG002 - DRF's signature
        """Answer 200 while the process works."""
        return Response({"status": "ok"})


class StartupView(OpenView):
    """`/startupz`: whether the start of this process has succeeded."""

    needs_clock = False

    @extend_schema(exclude=True)
    def get(self, request: Request) -> Response:  # noqa: ARG002 - DRF's signature
        """Return 200 after the first contact of the process with the database, else 503."""
        if clock.is_compared():
            return Response({"status": "started"})
        return Response({"status": "starting", "wrong": [host_clock.fault()]}, status=503)


class ReadinessView(OpenView):
    """`/readyz`: readiness."""

    needs_clock = False

    @extend_schema(exclude=True)
    def get(self, request: Request) -> Response:  # noqa: ARG002 - DRF's signature
        """Return the state of database, broker, sweeps and queues; 503 if nothing can be stored."""
        parts = _Parts()
        try:
            wrong = _blocking_problems(parts)
            told = {"status": "unavailable", **wrong} if wrong else _status(parts)
        except Error as error:
            connection.close()
            is_hung = isinstance(error.__cause__, HungServerError)
            wrong = _hanging_commit() if is_hung else {"database": _cause() or "away"}
            told = {"status": "unavailable", **wrong}
        except _CommitHangs:
            wrong = _hanging_commit()
            told = {"status": "unavailable", **wrong}
        return Response(told, status=503 if wrong else 200)


class _CommitHangs(Exception):
    """The database has stopped to answer during the reads."""


def _blocking_problems(parts: _Parts) -> dict[str, str]:
    """Return the causes for which no request can succeed; empty if there is none."""
    if said := host_clock.confirmed_fault():
        return {"clock": said}
    if time_limit.commit_hangs():  # before any statement of this thread, which would hang as well
        return _hanging_commit()
    if not parts.read("the mode of the server", db.is_writable, default=True):
        connection.close()  # a failover: the next session may find the new primary
        return {"database": "takes no writes"}
    parts.unapplied = parts.read("the migrations", unapplied_migrations.find, default=[])
    if _FIRST in parts.unapplied:
        return {"database": "it has no tables: run `manage.py migrate`"}
    if said := _full_disk():
        return {"database": said}
    return {}


def _full_disk() -> str:
    return "its disk is full: make room on it" if disk.is_full() else ""


def _cause() -> str:
    return _full_disk() or (session_limit.SENTENCE if session_limit.is_reached() else "")


def _hanging_commit() -> dict[str, str]:
    seconds = time_limit.COMMIT_LIMIT.total_seconds()
    return {"database": f"a commit takes over {seconds:g} s: {_COMMIT_HINT}"}


_Found = TypeVar("_Found")


class _Parts:
    """The parts of an answer that are read from the database, each with a time limit."""

    def __init__(self) -> None:
        self.unread: list[str] = []
        self.unapplied: list[str] = []
        """Migrations of this release that the database does not have."""

    def read(self, part: str, work: Callable[[], _Found], *, default: _Found) -> _Found:
        """Return what `work` reads, or `default` and a sentence in `unread` about the part.

        Raises:
            _CommitHangs: the database answers nothing any more.
            django.db.Error: the database is away.
        """
        if len(self.unread) >= _MOST_UNREAD:
            self.unread.append(f"{part}: not read, because other reads were too slow")
            return default
        try:
            with time_limit.of_session(seconds=_SLOWEST):
                return work()
        except ProgrammingError:
            self.unread.append(f"{part}: not read, its table is of another release")
            return default
        except time_limit.TooSlow as error:
            if time_limit.commit_hangs():
                raise _CommitHangs from error
            self.unread.append(
                f"{part}: not read within {_SLOWEST:g} s, look for locks in the database"
            )
            return default


def _status(parts: _Parts) -> dict[str, Any]:
    now = clock.now()
    ages = parts.read("the sweeps", sweep_ages, default=dict[str, dt.timedelta]())
    lags = {
        found.lane.name: found
        for found in parts.read(
            "the lanes", lambda: lane_lag.newest(now=now), default=list[lane_lag.Lag]()
        )
    }
    waiting = {name: found for name, found in lags.items() if found.is_shown}
    is_taking = broker.probe()
    wrong = [f"{each} is not applied: run `manage.py migrate`" for each in parts.unapplied]
    wrong += _lane_problems(lags)
    wrong += parts.read("the breakers", _find_paused_providers, default=[])
    wrong += parts.read("the alerts of lanes and deliveries", _failing_code, default=[])
    wrong += _missing_servers(is_taking=is_taking) + _evicting_servers()
    wrong += parts.read("the fallbacks", lambda: fallbacks.current(now=now), default=[])
    wrong += [
        trouble.text
        for trouble in parts.read("overdue sweeps", overdue.look, default=list[overdue.Trouble]())
    ]
    wrong += parts.read("the session settings", _missing_settings, default=[])
    wrong += [f"database: {session_limit.SENTENCE}"] if session_limit.is_reached() else []
    wrong += supervised.faults()
    wrong += parts.unread
    return {
        "status": "degraded" if wrong else "ready",
        "wrong": wrong,
        "database": "partly read" if parts.unread else "ok",
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


def _lane_problems(lags: Mapping[str, lane_lag.Lag]) -> list[str]:
    return [
        *(
            f"{name} is behind"
            for name, lag in lags.items()
            if lag.is_shown and lag.behind > BEHIND
        ),
        *(f"{name} refuses new posts with 429" for name, lag in lags.items() if lag.refuses),
        *(f"{name} drops stale deliveries" for name, lag in lags.items() if lag.drops),
    ]


def _find_paused_providers() -> list[str]:
    return [
        f"{row} is paused: {standing.why or 'an operator has opened the breaker'}"
        for row, standing in breaker_status.with_counts().values()
        if standing.is_open
    ]


def _missing_settings() -> list[str]:
    return [
        f"database sessions have {name}={value}, not {session_settings.WANTED[name]}: run"
        " `manage.py migrate` as the role of the processes"
        for name, value in session_settings.missing().items()
    ]


def _missing_servers(*, is_taking: bool) -> list[str]:
    """Return which servers this process works without."""
    wrong = []
    if not is_taking:
        fault = broker.fault() or server_faults.AWAY
        wrong.append(f"the broker {fault}: workers take what is due from the database")
    if not state.answers():
        wrong.append("the state Redis is away: evidence of calls and limits are not shared")
    return wrong


def _evicting_servers() -> list[str]:
    """Return which servers drop keys when their memory is full, instead of refusing writes."""
    policies = {"the broker": broker.eviction_policy()}
    with contextlib.suppress(state.Away):
        policies["the state Redis"] = state.eviction_policy()
    return [
        f"{server} may drop keys (maxmemory-policy={policy}): set it to {_KEEPS_ALL}"
        for server, policy in policies.items()
        if policy not in {"", _KEEPS_ALL}
    ]


def _failing_code() -> list[str]:
    """Return the sentences of alerts about paused lanes and unreachable deliveries."""
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
