"""Beat goes on with the tasks that it knows while Postgres is away."""

from __future__ import annotations

import psycopg
import pytest
from django.db import DatabaseError, connection
from django_celery_beat.models import IntervalSchedule, PeriodicTask

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
