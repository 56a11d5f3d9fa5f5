"""Sweeps: periodic tasks that complete unfinished work, also after a crash.

    deliveries    release, resume, relay, due_rows (rescue, retry, expiry, ordering),
                  withdrawals; hold_checks run in release
    the relay     publish_quota, the limits of the rows in the broker
    lag           lane_lag, which pauses P3 SMS in an outage
    reports       change_feed (webhooks, rollups)
    operators     alert_notices, breakers, delivery_health, service_levels, overdue,
                  provider_checks, dead_letters (replays)
    upkeep        retention (archive, partitions), housekeeping (erasures)

Each sweep is a function `run_once(*, now, limit) -> Swept` and an entry in SWEEPS. Beat sends a
task for each (`sweep_relay`), at the interval of the periodic task in the database. For a sweep
with a condition (`Sweep.work`), beat asks the database at the interval (`with_work`), and sends the
task only if there is work or if the last task is older than `slowest(interval)`. Several `ops`
processes may run a sweep concurrently: sweeps over deliveries work lane by lane and skip locked
rows (`rounds`); other sweeps work batch by batch or job by job (`loops`) and lock the rows they
change.

A sweep is safe to run twice (every status change expects a status), late (rows stay due) or never
(rows wait, and the web process raises an alert). An exception in a sweep stops no other sweep: it
raises the alert `sweep_failed`, and the next run without an exception resolves the alert.

A run ends within a second even if rows are left, so that it does not delay the relay. Its task then
sends a further run, which any `ops` process takes (`help_out`), so all `ops` processes work on a
backlog without a pause.
"""

from __future__ import annotations

import datetime as dt
import threading
from collections.abc import Collection
from dataclasses import dataclass
from typing import Final

import structlog
from django.db import Error, connection

from notifications.core import clock, feature
from notifications.core.feature import FeatureSweep
from notifications.core.rules.alerts import AlertKind
from notifications.core.rules.lane import OPS, TELL
from notifications.core.rules.states import Status
from notifications.core.store.postgres import alerts, periodic_tasks, sweep_runs, sweep_work
from notifications.core.store.postgres.periodic_tasks import PeriodicSweep
from notifications.core.store.postgres.sweep_work import Work
from notifications.core.sweeps import (
    alert_notices,
    breakers,
    change_feed,
    dead_letters,
    delivery_health,
    due_rows,
    housekeeping,
    lane_lag,
    provider_checks,
    relay,
    release,
    resume,
    retention,
    rounds,
    service_levels,
    withdrawals,
)
from notifications.core.sweeps.rounds import RunOnce, Swept
from notifications.core.telemetry import instruments

_log = structlog.get_logger(__name__)


@dataclass(frozen=True, slots=True)
class Sweep:
    """A sweep with its interval and batch size."""

    name: str
    every: dt.timedelta
    """Interval in a new installation; the periodic task's row has the current interval."""
    limit: int
    """Rows in a batch; the keyword arguments of the periodic task may have another number."""
    run_once: RunOnce
    stops: str
    """The effect of switching the sweep off, for operators."""
    queue: str = OPS
    """The queue of the task."""
    work: Work | None = None
    """The condition under which beat sends the task; None: at each interval."""


_EVERY: Final = (
    ("relay", 1, 20_000, relay.run_once),
    ("release", 1, 500, release.run_once),
    ("rescue", 3, 500, due_rows.rescue_lost),
    ("retry", 10, 500, due_rows.retry),
    ("expiry", 10, 500, due_rows.expire),
    ("resume", 5, 5_000, resume.run_once),
    ("lane_lag", 5, 5_000, lane_lag.run_once),
    ("replays", 10, 500, dead_letters.replay_jobs),
    ("withdrawals", 2, 500, withdrawals.run_once),
    ("erasures", 10, 500, housekeeping.erase_recipients),
    ("recheck_unknown", 10, 500, due_rows.recheck_unknown),
    ("dead_letters", 60, 5_000, dead_letters.run_once),
    ("breakers", 60, 5_000, breakers.run_once),
    ("alert_notices", 5, 500, alert_notices.run_once),
    ("provider_checks", 30, 20, provider_checks.run_once),
    ("service_levels", 60, 5_000, service_levels.run_once),
    ("delivery_health", 60, 1, delivery_health.run_once),
    ("ordering", 5, 1_000, due_rows.advance_ordering),
    ("webhooks", 2, 5_000, change_feed.make_messages),
    ("rollups", 5, 50_000, change_feed.count_events),
    ("tell", 2, 256, change_feed.tell),
    ("housekeeping", 60, 5_000, housekeeping.run_once),
    ("partitions", 3_600, 500, retention.create_partitions),
    ("archive", 600, 500, retention.run_once),
)
"""Name, interval in seconds of a new installation, rows in a batch, function."""
_STOPS: Final = {
    "relay": "P2 and P3 deliveries, and P0 and P1 deliveries after a failed publish, stay queued.",
    "release": "Scheduled and held deliveries stay scheduled; unconfirmed deliveries stay sent.",
    "rescue": "Deliveries of a killed worker stay in the status sending.",
    "retry": "A retry whose broker message was lost is not sent.",
    "expiry": "Due deliveries that no worker takes wait beyond their time to live.",
    "resume": "P0 and P1 deliveries held by a circuit breaker wait after the circuit has closed.",
    "lane_lag": "The lag of lanes is unknown; no alert recommends workers.",
    "replays": "Replays of dead letters stop.",
    "withdrawals": "Withdrawn messages stay on the devices.",
    "erasures": "Notifications of erased recipients are kept until the end of the retention time.",
    "recheck_unknown": "Deliveries with an unanswered call are not sent again and stay unknown.",
    "dead_letters": "Dead letters raise no alert and are not deleted.",
    "breakers": "Alerts of closed circuit breakers stay open.",
    "alert_notices": "Alerts are not sent to alert destinations.",
    "provider_checks": "A paused provider without traffic stays paused until the next message.",
    "service_levels": "Burn rates, deep queues, late lanes and stuck deliveries raise no alert; the"
    " reach is missing.",
    "delivery_health": "Failing providers and low delivery rates raise no alert.",
    "ordering": "An ordering key stops after a lost broker message; unused keys are kept.",
    "webhooks": "Webhooks to producers are made late, when the sweep is on again.",
    "rollups": "Figures of the analytics stay as they are, and follow when the sweep is on again.",
    "tell": "Webhooks to producers wait and are not sent.",
    "housekeeping": "Expired secrets and keys are kept; new sensitive variables stay unencrypted.",
    "partitions": "No partitions are created; after two weeks all requests are refused.",
    "archive": "Days past retention stay in the database.",
}
_QUEUES: Final = {"tell": TELL}
"""Queues of the sweeps that may take longer than a second; no other sweep waits for them."""
_NOW: Final = rounds.NO_GRACE
_WORK: Final = {
    "relay": Work(due=((Status.QUEUED, relay.EVER),)),
    "release": Work(due=((Status.SCHEDULED, _NOW), (Status.SENT, _NOW)), sql="work_release"),
    "rescue": Work(due=((Status.SENDING, _NOW),)),
    "retry": Work(due=((Status.RETRYING, _NOW),)),
    "expiry": Work(due=((Status.QUEUED, -due_rows.EXPIRY_GRACE),)),
    "recheck_unknown": Work(due=((Status.UNKNOWN, _NOW),)),
    "replays": Work(sql="work_replays"),
    "alert_notices": Work(sql="work_alert_notices"),
    "withdrawals": Work(sql="work_withdrawals"),
    "erasures": Work(sql="work_erasures"),
    "ordering": Work(sql="work_ordering"),
    "webhooks": Work(sql="work_webhooks"),
    "rollups": Work(sql="work_rollups"),
    "tell": Work(sql="work_tell"),
}
"""Conditions of sweeps; beat sends the tasks of other sweeps at each interval, because these sweeps
also measure, read Redis, or raise alerts about what no row shows."""
_SLOWEST: Final = dt.timedelta(seconds=30)
_INTERVALS: Final = 10


def _of_feature(sweep: FeatureSweep) -> Sweep:
    """Return the sweep; its module is imported by the first run."""

    def run_once(*, now: dt.datetime, limit: int) -> Swept:
        swept: Swept = feature.import_function(sweep.run)(now=now, limit=limit)
        return swept

    every = dt.timedelta(seconds=sweep.seconds)
    queue = sweep.queue or OPS
    work = Work(sql=sweep.work) if sweep.work else None
    return Sweep(sweep.name, every, sweep.limit, run_once, sweep.stops, queue, work)


SWEEPS: Final = {
    name: Sweep(
        name,
        dt.timedelta(seconds=seconds),
        limit,
        run_once,
        _STOPS[name],
        _QUEUES.get(name, OPS),
        _WORK.get(name),
    )
    for name, seconds, limit, run_once in _EVERY
} | {each.name: _of_feature(each) for app in feature.all_features() for each in app.sweeps}
"""Sweeps by name; a sweep of a feature replaces the sweep of the core with the same name."""


def slowest(every: dt.timedelta) -> dt.timedelta:
    """Return the interval of a sweep without work: the effect of a condition that is wrong.

    Ten intervals, at most half a minute: shorter than the time after which `overdue` raises alerts.
    """
    return max(every, min(every * _INTERVALS, _SLOWEST))


def with_work(names: Collection[str]) -> set[str]:
    """Return the sweeps of `names` with work; sweeps without a condition always have work.

    Raises:
        django.db.Error: as `sweep_work.with_work`.
    """
    conditions = {name: work for name in names if (work := SWEEPS[name].work)}
    return sweep_work.with_work(conditions) | (set(names) - set(conditions))


def create_periodic_tasks() -> None:
    """Create missing periodic tasks of sweeps."""
    periodic_tasks.create_missing({
        each.name: PeriodicSweep(each.every, f"If off: {each.stops}", each.queue)
        for each in SWEEPS.values()
    })


def run(name: str, *, every: dt.timedelta | None = None, limit: int | None = None) -> Swept:
    """Run a sweep, unless another run began within the interval. Never raises.

    Args:
        name: the name of the sweep.
        every: the interval; default: the interval of the periodic task.
        limit: rows in a batch; default: the sweep's own limit.
    """
    sweep = SWEEPS[name]
    try:
        start = sweep_runs.begin(name, usual=sweep.every, every=every)
        if start is None:
            return Swept()
        swept, detail = _run_safely(sweep, limit)
        _end(name, swept, detail, failed_before=start.failed_before)
    except Error:
        # The alert can fail as well: the database is away, and the web process reports it.
        _log.exception("sweep_not_reported", sweep=name)
        connection.close()
        return Swept(failed=1)
    return swept


_helping: Final = threading.Lock()
"""Held by the process's further run; other threads of the process stay free for beat's messages."""


def help_out(name: str, *, limit: int | None = None) -> Swept:
    """Run a sweep beside other runs, unless the process executes a further run. Never raises.

    The run logs exceptions; only runs sent by beat raise and resolve alerts.
    """
    if not _helping.acquire(blocking=False):
        return Swept()
    try:
        swept, _ = _run_safely(SWEEPS[name], limit) if _is_on(name) else (Swept(), "")
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
    rhythm = periodic_tasks.rhythms().get(name)
    return rhythm is None or rhythm.is_on


def _run_safely(sweep: Sweep, limit: int | None) -> tuple[Swept, str]:
    """Run and measure a sweep, and catch exceptions; also returns the alert's text."""
    began = clock.monotonic()
    swept, detail = _run_and_catch(sweep, limit or sweep.limit)
    instruments.SWEEP_SECONDS.labels(sweep.name).observe(clock.monotonic() - began)
    # Also nothing: `rate` in Prometheus does not see the first count of a new series.
    for result, count in (("moved", swept.moved), ("failed", swept.failed)):
        instruments.SWEPT_ROWS.labels(sweep.name, result).inc(count)
    return swept, detail


def _run_and_catch(sweep: Sweep, limit: int) -> tuple[Swept, str]:
    try:
        swept = sweep.run_once(now=clock.now(), limit=limit)
    except Exception as error:  # noqa: BLE001 - a sweep that fails, however, must not stop the others
        _log.exception("sweep_failed", sweep=sweep.name)
        if isinstance(error, Error):
            connection.close()
        return Swept(failed=1), f"{type(error).__name__} ended it; the log has the traceback"
    return swept, f"{swept.failed} rows or lanes raised an exception; the log says which"


def _end(name: str, swept: Swept, detail: str, *, failed_before: int) -> None:
    if swept.moved or swept.failed:
        _log.info("swept", sweep=name, moved=swept.moved, failed=swept.failed)
    if failed_before and not swept.failed:
        alerts.resolve(AlertKind.SWEEP_FAILED, name)  # while the row still shows the failure
    took = sweep_runs.end(name, moved=swept.moved, failed=swept.failed)
    if swept.failed:
        alerts.raise_once(AlertKind.SWEEP_FAILED, name, detail)
    if took > sweep_runs.UNFINISHED_AFTER:
        alerts.resolve(AlertKind.SWEEP_UNFINISHED, name)
