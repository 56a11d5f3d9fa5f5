"""Beat goes on with the tasks that it knows while Postgres is away."""

from __future__ import annotations

import psycopg
import pytest
from django.db import DatabaseError, connection
from django.test.utils import CaptureQueriesContext
from django_celery_beat.models import IntervalSchedule, PeriodicTask, PeriodicTasks

from notifyproj.beat import Scheduler
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
