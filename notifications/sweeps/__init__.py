"""Beat's work: what makes every promise hold after a crash.

Each sweep is a module of this package with one function,

    run_once(*, now, limit) -> Swept

and a line in SWEEPS. Several `ops` processes may run the same sweep at once: sweeps over deliveries
share the lanes and skip rows that are locked (`rounds`), the others lock the rows that they change.

    relay            publish what is queued                                           each second
    rescue           settle or queue rows whose lease ran out                         each second
    recheck_unknown  resend once, or close, what nobody answered                      each second
    retry            queue what is due for its next try                               each second
    release          queue what was scheduled or held, merge digests                  each second
    resume           release what a breaker held, now that it is closed               each second
    replays          work off replay jobs                                             each second
    schedules        make notifications of what recurs, a day ahead                   each second
    dead_letters     alert on growth, discard past retention                          each minute
    breakers         resolve alerts whose cause is gone, bound breakers' events       each minute
    ordering         forget places and ordering keys that are out of use              each minute
    ordering         wake heads whose wake-up was lost, forget ordering keys          each second
    replays          work off replay jobs                                             each second
    schedules        make notifications of what recurs, a day ahead                   each second
    dead_letters     alert on growth, discard past retention                          each minute
    breakers         resolve alerts of those that are closed, bound their events      each minute
    housekeeping     wipe secrets, delete expired keys, bound the rejected log        each minute
    partitions       make days ahead, drop days past retention                        each hour

Safe to run twice (every move is guarded by the status it expects), to run late (rows stay due),
never to run (nothing is lost; it waits; the web process raises an alert). An exception in one sweep
stops no other: it raises the alert `sweep_failed`, which the next run without one resolves.
"""

from __future__ import annotations

import datetime as dt
from dataclasses import dataclass
from typing import Final, Protocol

import structlog
from django.db import Error, connection

from notifications import clock
from notifications.rules.alerts import AlertKind
from notifications.store import alerts, sweep_runs
from notifications.store.sweep_runs import Ended
from notifications.sweeps import (
    breakers,
    dead_letters,
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
    limit: int
    run_once: RunOnce


_SECOND: Final = dt.timedelta(seconds=1)
_MINUTE: Final = dt.timedelta(minutes=1)
_EARLY: Final = 0.9
"""Part of the interval after which a run may begin: a tick can come a little early."""

SWEEPS: Final = {
    sweep.name: sweep
    for sweep in (
        Sweep("relay", _SECOND, 20_000, relay.run_once),
        Sweep("rescue", _SECOND, 500, rescue.run_once),
        Sweep("recheck_unknown", _SECOND, 500, recheck_unknown.run_once),
        Sweep("retry", _SECOND, 500, retry.run_once),
        Sweep("release", _SECOND, 500, release.run_once),
        Sweep("resume", _SECOND, 1_000, resume.run_once),
        Sweep("ordering", _SECOND, 200, ordering.run_once),
        Sweep("replays", _SECOND, 200, replays.run_once),
        Sweep("schedules", _SECOND, 50, schedules.run_once),
        Sweep("dead_letters", _MINUTE, 5_000, dead_letters.run_once),
        Sweep("breakers", _MINUTE, 5_000, breakers.run_once),
        Sweep("housekeeping", _MINUTE, 5_000, housekeeping.run_once),
        Sweep("partitions", dt.timedelta(hours=1), 500, partitions.run_once),
    )
}
"""By name, in the order in which one process runs them: the relay first."""


def tick() -> None:
    """Run every sweep whose time has come."""
    for name in SWEEPS:
        run(name)


def run(name: str) -> Swept:
    """Run one sweep, unless a run of it began within its interval.

    Never raises: an exception is logged and becomes an alert.
    """
    sweep = SWEEPS[name]
    try:
        if not sweep_runs.begin(name, every=sweep.every * _EARLY):
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
