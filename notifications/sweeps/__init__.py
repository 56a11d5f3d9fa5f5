"""Beat's work: what makes every promise hold after a crash.

Each sweep is a module of this package with one function,

    run_once(*, now, limit) -> Swept

and a line in SWEEPS. Beat sends each as a task of its own (`sweep_relay`), in the interval that its
periodic task has in the database; SWEEPS names the interval of a new installation. Several `ops`
processes may run the same sweep at once: sweeps over deliveries share the lanes and skip rows that
are locked (`rounds`), the others lock the rows that they change.

    relay            publish what is queued                                         every 1 s
    release          queue what was scheduled or held                               every 1 s
    digests          merge or queue what a cap held                                 every 10 s
    rescue           settle or queue rows whose lease ran out                       every 3 s
    retry            queue what is due for its next try                             every 10 s
    resume           release what a breaker held, now that it is closed             every 5 s
    replays          work off replay jobs                                           every 10 s
    erasures         remove what was sent to people who were erased                 every 10 s
    ordering         wake heads whose wake-up was lost, forget ordering keys        every 5 s
    recheck_unknown  resend once, or close, what nobody answered                    every 10 s
    schedules        make notifications of what recurs, a day ahead                 every 10 s
    dead_letters     alert on growth, discard past retention                        each minute
    breakers         resolve alerts whose cause is gone, bound breakers' events     each minute
    housekeeping     wipe secrets, delete expired keys, bound the rejected log      each minute
    partitions       make days ahead, drop days past retention                      each hour

Safe to run twice (every move is guarded by the status it expects), to run late (rows stay due),
never to run (nothing is lost; it waits; the web process raises an alert). An exception in one sweep
stops no other: it raises the alert `sweep_failed`, which the next run without one resolves.

A run ends within a second although rows may be left, so that the relay is not kept waiting. Its
task then sends a further one at once, which any `ops` process takes (`help_out`). So a backlog is
worked off without a pause, by as many `ops` processes as there are.
"""

from __future__ import annotations

import datetime as dt
import threading
from dataclasses import dataclass
from typing import Final, Protocol

import structlog
from django.db import Error, connection

from notifications import clock
from notifications.rules.alerts import AlertKind
from notifications.store import alerts, periodic, sweep_runs
from notifications.store.sweep_runs import Ended
from notifications.sweeps import (
    breakers,
    dead_letters,
    digests,
    erasures,
    housekeeping,
    ordering,
    partitions,
    recheck_unknown,
    relay,
    release,
    replays,
    rescue,
    resume,
    retry,
    schedules,
)
from notifications.sweeps.rounds import Swept

_log = structlog.get_logger(__name__)


class RunOnce(Protocol):
    """A sweep's one function."""

    def __call__(self, *, now: dt.datetime, limit: int) -> Swept:
        """Work in batches of up to `limit` rows; returns what came of it."""


@dataclass(frozen=True, slots=True)
class Sweep:
    """A sweep, its interval and the rows of one of its batches."""

    name: str
    every: dt.timedelta
    """Of a new installation; the periodic task's row has the interval in force."""
    limit: int
    run_once: RunOnce
    stops: str
    """What an operator stops by switching it off."""


_SECOND: Final = dt.timedelta(seconds=1)
_MINUTE: Final = dt.timedelta(minutes=1)
_EARLY: Final = 0.9
"""Part of the interval after which a run may begin: a message can come a little early."""

SWEEPS: Final = {
    sweep.name: sweep
    for sweep in (
        Sweep(
            "relay",
            _SECOND,
            20_000,
            relay.run_once,
            "P2 and P3 are not published; P0 and P1 that were not published at once stay.",
        ),
        Sweep(
            "release",
            _SECOND,
            500,
            release.run_once,
            "Scheduled notifications, quiet hours and holds do not end.",
        ),
        Sweep(
            "digests",
            10 * _SECOND,
            500,
            digests.run_once,
            "What a cap held waits five minutes longer, and leaves one by one.",
        ),
        Sweep(
            "rescue",
            3 * _SECOND,
            500,
            rescue.run_once,
            "What a killed worker was sending stays where it is.",
        ),
        Sweep(
            "retry",
            10 * _SECOND,
            500,
            retry.run_once,
            "A retry whose message was lost does not come.",
        ),
        Sweep(
            "resume",
            5 * _SECOND,
            5_000,
            resume.run_once,
            "P0 and P1 that a breaker held wait longer than it rests.",
        ),
        Sweep(
            "replays",
            10 * _SECOND,
            500,
            replays.run_once,
            "Replays of dead letters stand still.",
        ),
        Sweep(
            "erasures",
            10 * _SECOND,
            500,
            erasures.run_once,
            "What was sent to people who were erased is kept until retention.",
        ),
        Sweep(
            "recheck_unknown",
            10 * _SECOND,
            500,
            recheck_unknown.run_once,
            "What no provider answered is neither sent again nor closed.",
        ),
        Sweep(
            "schedules",
            10 * _SECOND,
            50,
            schedules.run_once,
            "Recurring schedules make no notifications.",
        ),
        Sweep(
            "dead_letters",
            _MINUTE,
            5_000,
            dead_letters.run_once,
            "Dead letters raise no alert and are kept for ever.",
        ),
        Sweep(
            "breakers",
            _MINUTE,
            5_000,
            breakers.run_once,
            "Alerts of breakers that have closed stay open.",
        ),
        Sweep(
            "ordering",
            5 * _SECOND,
            1_000,
            ordering.run_once,
            "A line whose wake-up was lost stands still, and its keys are kept.",
        ),
        Sweep(
            "housekeeping",
            _MINUTE,
            5_000,
            housekeeping.run_once,
            "Secrets, expired keys and refused requests are kept.",
        ),
        Sweep(
            "partitions",
            60 * _MINUTE,
            500,
            partitions.run_once,
            "No days are made ahead: after two weeks nothing is accepted. None is dropped.",
        ),
    )
}
"""By name."""


def create_periodic_tasks() -> None:
    """Give each sweep a periodic task, unless it has one."""
    periodic.create_missing([
        periodic.New(name=each.name, every=each.every, description=f"If off: {each.stops}")
        for each in SWEEPS.values()
    ])


def run(name: str, *, every: dt.timedelta | None = None) -> Swept:
    """Run one sweep, unless a run of it began within its interval.

    Never raises: an exception is logged and becomes an alert.

    Args:
        name: the sweep's.
        every: the interval; without it that of its periodic task.
    """
    sweep = SWEEPS[name]
    try:
        interval = _interval(sweep) if every is None else every
        if not sweep_runs.begin(name, every=interval * _EARLY):
            return Swept()
        swept, detail = _fenced(sweep)
        ended = sweep_runs.end(name, moved=swept.moved, failed=swept.failed)
        _report(name, swept, detail, ended)
    except Error:
        # Also of an alert: the database is away, of which the web process tells.
        _log.exception("sweep_not_reported", sweep=name)
        connection.close()
        return Swept(failed=1)
    return swept


_helping: Final = threading.Lock()
"""Held by the one further run of this process: its other threads are for beat's messages."""


def help_out(name: str) -> Swept:
    """Run one sweep beside other runs of it, unless this process helps out already. Never raises.

    A run that beat asked for decides about alerts; this one tells of exceptions in the log.
    """
    if not _helping.acquire(blocking=False):
        return Swept()
    try:
        swept, _ = _fenced(SWEEPS[name]) if _is_on(name) else (Swept(), "")
    except Error:
        _log.exception("sweep_failed", sweep=name)
        connection.close()
        return Swept(failed=1)
    finally:
        _helping.release()
    if swept.moved or swept.failed:
        _log.info("swept", sweep=name, moved=swept.moved, failed=swept.failed)
    return swept


def _is_on(name: str) -> bool:
    rhythm = periodic.rhythms().get(name)
    return rhythm is None or rhythm.is_on


def _interval(sweep: Sweep) -> dt.timedelta:
    rhythm = periodic.rhythms().get(sweep.name)
    return rhythm.every if rhythm and rhythm.every else sweep.every


def _fenced(sweep: Sweep) -> tuple[Swept, str]:
    """Run it; also what an operator reads when something failed."""
    try:
        swept = sweep.run_once(now=clock.now(), limit=sweep.limit)
    except Exception as error:  # noqa: BLE001 - a sweep that fails, however, must not stop the others
        _log.exception("sweep_failed", sweep=sweep.name)
        if isinstance(error, Error):
            connection.close()
        return Swept(failed=1), f"{type(error).__name__} ended it; the log has the traceback"
    return swept, f"{swept.failed} rows or lanes raised an exception; the log says which"


def _report(name: str, swept: Swept, detail: str, ended: Ended) -> None:
    if swept.moved or swept.failed:
        _log.info("swept", sweep=name, moved=swept.moved, failed=swept.failed)
    if swept.failed:
        alerts.raise_once(AlertKind.SWEEP_FAILED, name, detail)
    elif ended.failed_before:
        alerts.resolve(AlertKind.SWEEP_FAILED, name)
    if ended.took > sweep_runs.UNFINISHED_AFTER:
        alerts.resolve(AlertKind.SWEEP_UNFINISHED, name)
