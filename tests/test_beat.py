"""Beat goes on while Postgres is away, and sends no message for a sweep without work."""

from __future__ import annotations

import datetime as dt
import threading
from collections.abc import Collection, Iterator

import psycopg
import pytest
from django.db import DatabaseError, OperationalError, connection
from django.test.utils import CaptureQueriesContext
from django_celery_beat.models import (
    CrontabSchedule,
    IntervalSchedule,
    PeriodicTask,
    PeriodicTasks,
)

from notifications.core import clock, sweeps
from notifyproj.beat import PeriodicEntry, Scheduler
from notifyproj.celery import app

pytestmark = pytest.mark.django_db(transaction=True)


def _end_session() -> None:
    """End this connection's session in the server, as a server does that stops."""
    with connection.cursor() as cursor:
        cursor.execute("SELECT pg_backend_pid()")
        [session] = cursor.fetchone()
    values = connection.get_connection_params()
    places = {name: values[name] for name in ("host", "port", "dbname", "user", "password")}
    with psycopg.connect(**places, autocommit=True) as link:
        link.execute("SELECT pg_terminate_backend(%s, 10000)", [session])


def _scheduler() -> Scheduler:
    PeriodicTask.objects.create(
        name="one", task="one", interval=IntervalSchedule.objects.create(every=1, period="days")
    )
    return Scheduler(app=app, lazy=True)


def test_beat_keeps_its_tasks_when_its_session_ends_and_reads_them_again() -> None:
    scheduler = _scheduler()
    scheduler.look_seconds = 0.0
    known = scheduler.schedule
    _end_session()
    assert scheduler.all_as_schedule() is known
    assert scheduler.schedule is not known
    assert "one" in scheduler.schedule


def test_beat_ends_when_it_has_read_no_task() -> None:
    scheduler = _scheduler()
    _end_session()
    with pytest.raises(DatabaseError):
        scheduler.all_as_schedule()
    connection.close()


def test_beat_looks_for_changes_once_in_a_while() -> None:
    scheduler = _scheduler()
    scheduler.look_seconds = 3_600.0
    assert scheduler.schedule
    assert scheduler.schedule
    with CaptureQueriesContext(connection) as queries:
        for _ in range(5):
            assert "one" in scheduler.schedule
    assert not queries.captured_queries
    scheduler.look_seconds = 0.0
    PeriodicTask.objects.filter(name="one").update(enabled=False)
    PeriodicTasks.update_changed()
    assert "one" not in scheduler.schedule


def test_a_failed_look_is_not_repeated_at_once(caplog: pytest.LogCaptureFixture) -> None:
    scheduler = _scheduler()
    assert scheduler.schedule
    _end_session()
    for _ in range(5):
        assert "one" in scheduler.schedule
    failed = [each for each in caplog.records if "Database gave error" in each.getMessage()]
    assert len(failed) == 1
    connection.close()


class _Beat:
    """A scheduler with all tasks of sweeps, whose looks are noted and answered by the test."""

    def __init__(self, monkeypatch: pytest.MonkeyPatch) -> None:
        self.has_work: set[str] = set()
        self.looks: list[set[str]] = []
        monkeypatch.setattr(sweeps, "with_work", self._with_work)
        sweeps.create_periodic_tasks()
        # As if no task was sent for five seconds, less than the longest time of each sweep.
        PeriodicTask.objects.update(last_run_at=clock.now() - dt.timedelta(seconds=5))
        self.scheduler = Scheduler(app=app, lazy=True)
        self.sent: list[str] = []
        monkeypatch.setattr(self.scheduler, "apply_entry", self._send)
        monkeypatch.setattr(Scheduler, "producer", None)

    def _with_work(self, names: Collection[str]) -> set[str]:
        self.looks.append(set(names))
        return self.has_work & set(names)

    def _send(self, entry: PeriodicEntry, **_options: object) -> None:
        self.sent.append(entry.name)

    def entry(self, name: str) -> PeriodicEntry:
        found: PeriodicEntry = self.scheduler.schedule[name]
        return found

    def tick(self) -> float:
        """Send all that is due; returns the seconds until the next tick."""
        while not (seconds := self.scheduler.tick()):
            pass
        return float(seconds)


@pytest.fixture
def beat(monkeypatch: pytest.MonkeyPatch) -> Iterator[_Beat]:
    yield _Beat(monkeypatch)
    connection.close()


_DUE = {
    *("relay", "release", "rescue", "inbox", "inbox_reports", "withdrawals", "webhooks", "tell"),
    *("ordering", "rollups", "cancel_jobs", "expand", "bulk_jobs", "audiences", "series"),
    *("alert_notices", "budgets"),
}
"""Sweeps with a condition whose interval is at most five seconds."""


def test_beat_asks_once_for_all_sweeps_that_are_due_and_sends_those_with_work(beat: _Beat) -> None:
    beat.has_work = {"release", "series"}
    assert beat.tick() > 0
    assert beat.looks == [_DUE]
    conditional = {name for name, each in sweeps.SWEEPS.items() if each.work}
    assert set(beat.sent) & conditional == {"release", "series"}
    assert "lane_lag" in beat.sent  # has no condition


def test_a_sweep_without_work_is_looked_at_again_after_its_interval(beat: _Beat) -> None:
    assert beat.tick() <= 1
    assert not beat.scheduler.is_due(beat.entry("relay")).is_due
    assert 0 < beat.scheduler.is_due(beat.entry("relay")).next <= 1
    assert 4 < beat.scheduler.is_due(beat.entry("ordering")).next <= 5
    assert len(beat.looks) == 1
    beat.entry("relay").last_run_at -= dt.timedelta(seconds=1)
    beat.has_work = {"relay"}
    assert beat.scheduler.is_due(beat.entry("relay")).is_due
    assert len(beat.looks) == 2


def test_beat_sleeps_until_a_sweep_is_due(beat: _Beat) -> None:
    beat.tick()
    ticks, pause = 0, threading.Event()
    while len(beat.looks) == 1:
        pause.wait(beat.scheduler.tick())
        ticks += 1
    assert ticks <= 5  # 100 with a look without a pause, 10 ms long


def test_a_sweep_is_sent_without_a_look_after_its_longest_time(beat: _Beat) -> None:
    long_ago = clock.now() - sweeps.slowest(dt.timedelta(seconds=1))
    PeriodicTask.objects.filter(name="relay").update(last_run_at=long_ago)
    assert beat.scheduler.is_due(beat.entry("relay")).is_due
    assert not beat.looks
    beat.tick()
    assert "relay" in beat.sent
    assert "release" not in beat.sent


def test_all_sweeps_are_sent_while_the_database_does_not_answer(
    beat: _Beat, monkeypatch: pytest.MonkeyPatch
) -> None:
    def refuse(names: Collection[str]) -> set[str]:
        del names
        raise OperationalError("away")

    monkeypatch.setattr(sweeps, "with_work", refuse)
    beat.tick()
    assert set(beat.sent) >= _DUE


def test_a_sweep_that_was_sent_in_the_future_is_sent_after_its_interval(beat: _Beat) -> None:
    in_an_hour = clock.now() + dt.timedelta(hours=1)
    PeriodicTask.objects.filter(name="relay").update(last_run_at=in_an_hour)
    entry = beat.entry("relay")
    assert 0 < beat.scheduler.is_due(entry).next <= 1
    entry.last_run_at -= dt.timedelta(seconds=1)
    assert beat.scheduler.is_due(entry).is_due
    assert not beat.looks


def test_a_sweep_that_is_off_is_not_looked_at_and_a_changed_interval_counts(beat: _Beat) -> None:
    beat.tick()
    every = IntervalSchedule.objects.create(every=60, period=IntervalSchedule.SECONDS)
    PeriodicTask.objects.filter(name="relay").update(enabled=False)
    PeriodicTask.objects.filter(name="release").update(interval=every)
    PeriodicTask.objects.update(last_run_at=clock.now() - dt.timedelta(seconds=5))
    PeriodicTasks.update_changed()
    beat.scheduler.look_seconds = 0.0
    beat.tick()
    assert beat.looks == [_DUE, _DUE - {"relay", "release"}]


def test_a_sweep_with_a_crontab_is_sent_when_it_is_due(beat: _Beat) -> None:
    crontab = CrontabSchedule.objects.create()  # each minute
    ago = clock.now() - dt.timedelta(minutes=2)
    columns = {"interval": None, "crontab": crontab, "last_run_at": ago}
    PeriodicTask.objects.filter(name="relay").update(**columns)
    assert beat.scheduler.is_due(beat.entry("relay")).is_due
    assert not beat.looks


def test_a_task_that_is_no_sweep_is_sent_when_it_is_due(beat: _Beat) -> None:
    every = IntervalSchedule.objects.create(every=7, period=IntervalSchedule.SECONDS)
    ago = clock.now() - dt.timedelta(seconds=8)
    for task in ("relay", "sweep_of_another_app"):
        PeriodicTask.objects.create(name=f"a {task}", task=task, interval=every, last_run_at=ago)
    beat.tick()
    assert {"a relay", "a sweep_of_another_app"} <= set(beat.sent)


def test_the_end_of_beat_stores_the_last_runs_once(beat: _Beat) -> None:
    now = clock.now()
    entry = beat.entry("relay")
    entry.last_run_at = now
    beat.scheduler.reserve(entry)
    beat.scheduler.close()
    beat.scheduler.close()
    stored = PeriodicTask.objects.get(name="relay").last_run_at
    assert stored is not None
    assert stored >= now
