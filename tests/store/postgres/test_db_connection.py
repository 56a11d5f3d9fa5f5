"""A connection that the server has closed costs nobody a statement; a read-only server is away."""

from __future__ import annotations

import datetime as dt
import select
from collections.abc import Callable, Iterator
from unittest.mock import Mock

import psycopg
import pytest
from django.core.signals import request_started
from django.db import DatabaseError, OperationalError, connection, transaction
from django.test import Client
from psycopg.conninfo import make_conninfo

from notifications.core import clock, sweeps
from notifications.core.models import Producer, SweepRun
from notifications.core.store.postgres import db, db_errors, disk, session_limit, thread_session
from notifyproj.celery import _close_old_connection
from notifyproj.devstack.demo.environment import until

pytestmark = pytest.mark.django_db(transaction=True)


@pytest.fixture
def read_only() -> Iterator[None]:
    """This thread's session is on a server that takes no writes, as after a failover."""
    with connection.cursor() as running:
        running.execute("SET default_transaction_read_only = on")
    yield
    connection.close()


def _own_pid() -> int:
    with db.cursor() as running:
        row = running.execute("SELECT pg_backend_pid() AS pid").fetchone()
    assert row is not None
    return int(row["pid"])


def _end_session(pid: int) -> None:
    """End a session of PostgreSQL from another session, as a restart does, and wait for the end."""
    other = connection.copy()
    try:
        with other.cursor() as running:
            running.execute("SELECT pg_terminate_backend(%s, 5000)", [pid])
    finally:
        other.close()


def test_the_first_statement_after_a_restart_finds_a_new_session() -> None:
    before = _own_pid()
    _end_session(before)
    assert _own_pid() != before


def test_the_first_query_of_a_request_after_a_restart_finds_a_new_session() -> None:
    before = _own_pid()
    _end_session(before)
    request_started.send(sender=None)
    assert not Producer.objects.filter(name="nobody").exists()


def test_a_living_session_is_kept() -> None:
    before = _own_pid()
    with connection.cursor() as running:
        running.execute("DO $$ BEGIN RAISE NOTICE 'something to read'; END $$")
    thread_session.drop_broken()
    assert _own_pid() == before


@pytest.mark.usefixtures("read_only")
def test_a_server_that_takes_no_writes_counts_as_away_and_its_session_ends() -> None:
    before = _own_pid()
    assert not db.is_writable()
    with pytest.raises(OperationalError, match="read-only"):
        db.run("feed_forget_foreign", {"limit": 1})
    assert _own_pid() != before
    assert db.is_writable()


def test_a_write_that_finds_the_disk_full_makes_the_service_unready_for_a_while(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    assert Client().get("/readyz").status_code == 200
    with pytest.raises(OperationalError, match="no room"), db.errors, db.cursor() as running:
        running.execute("DO $$ BEGIN RAISE 'no room' USING ERRCODE = 'disk_full'; END $$")
    told = Client().get("/readyz")
    assert (told.status_code, told.json()["database"]) == (503, "its disk is full: make room on it")
    later = clock.monotonic() + disk.FULL_FOR_SECONDS
    monkeypatch.setattr(clock, "monotonic", lambda: later)
    assert Client().get("/readyz").status_code == 200
    disk.forget()


def test_a_session_that_finds_the_disk_full_names_the_disk(monkeypatch: pytest.MonkeyPatch) -> None:
    # The refusal of PostgreSQL 18 after its log found no room.
    text = "FATAL:  could not write init file: No space left on device"
    with pytest.raises(OperationalError), connection.wrap_database_errors:
        raise psycopg.OperationalError(text)

    def refuse() -> bool:
        raise OperationalError(text)

    monkeypatch.setattr(db, "is_writable", refuse)
    assert Client().get("/readyz").json()["database"] == "its disk is full: make room on it"
    disk.forget()


def test_a_refused_session_names_the_limit_of_sessions(monkeypatch: pytest.MonkeyPatch) -> None:
    with connection.cursor() as running:
        running.execute("CREATE ROLE crowded LOGIN PASSWORD 'crowded' CONNECTION LIMIT 0")
    url = make_conninfo(connection.connection.info.dsn, user="crowded", password="crowded")
    try:
        with pytest.raises(OperationalError), connection.wrap_database_errors:
            psycopg.connect(url)
    finally:
        with connection.cursor() as running:
            running.execute("DROP ROLE crowded")

    told = Client().get("/readyz").json()
    assert f"database: {session_limit.SENTENCE}" in told["wrong"]
    monkeypatch.setattr(db, "is_writable", Mock(side_effect=OperationalError))
    assert Client().get("/readyz").json()["database"] == session_limit.SENTENCE
    session_limit.forget()
    assert Client().get("/readyz").json()["database"] == "away"


@pytest.mark.usefixtures("read_only")
@pytest.mark.parametrize("repeated", [db.in_transaction, db.retry_refused])
def test_a_write_after_a_failover_is_repeated_on_the_new_primary(
    repeated: Callable[[Callable[[], int]], int],
) -> None:
    before = _own_pid()
    assert repeated(lambda: db.run("feed_forget_foreign", {"limit": 1})) == 0
    assert _own_pid() != before


@pytest.fixture
def read_only_server() -> Iterator[None]:
    """Each new session of this database takes no writes, as on a standby."""
    name = connection.settings_dict["NAME"]
    with connection.cursor() as running:
        running.execute(f'ALTER DATABASE "{name}" SET default_transaction_read_only = on')
    connection.close()
    yield
    with connection.cursor() as running:
        running.execute("SET default_transaction_read_only = off")
        running.execute(f'ALTER DATABASE "{name}" RESET default_transaction_read_only')
    connection.close()


@pytest.mark.usefixtures("read_only_server")
def test_a_write_to_a_server_that_stays_read_only_is_refused() -> None:
    with pytest.raises(OperationalError, match="read-only"):
        db.in_transaction(lambda: db.run("feed_forget_foreign", {"limit": 1}))


def test_a_task_begins_with_a_session_that_is_not_older_than_its_most_age() -> None:
    before = _own_pid()
    _close_old_connection()
    assert _own_pid() == before
    connection.close_at = clock.monotonic() - 1  # as after CONN_MAX_AGE
    _close_old_connection()
    assert _own_pid() != before


@pytest.mark.usefixtures("read_only")
def test_a_sweep_whose_session_is_on_a_former_primary_begins_in_a_new_session() -> None:
    before = _own_pid()
    swept = sweeps.run("erasures", every=dt.timedelta(0))
    assert (swept.failed, _own_pid() == before) == (0, False)
    run = SweepRun.objects.get(name="erasures")
    assert run.finished_at is not None
    assert not run.failed


def test_a_sweep_does_not_begin_while_every_session_is_read_only(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setitem(connection.settings_dict, "OPTIONS", _with_read_only_sessions())
    connection.close()
    assert sweeps.run("erasures", every=dt.timedelta(0)).failed == 1
    monkeypatch.undo()
    connection.close()
    assert not SweepRun.objects.filter(name="erasures").exists()


def _with_read_only_sessions() -> dict[str, object]:
    options = connection.settings_dict["OPTIONS"]
    return {**options, "options": "-c default_transaction_read_only=on"}


def test_the_end_of_an_idle_transaction_counts_as_a_lost_connection() -> None:
    with connection.cursor() as running:
        running.execute("SET idle_in_transaction_session_timeout = '10ms'")
    with pytest.raises(DatabaseError) as found:
        _stay_idle_in_a_transaction()
    connection.close()
    assert db_errors.is_away(found.value)
    assert not db_errors.is_away(DatabaseError("another error"))


@transaction.atomic
def _stay_idle_in_a_transaction() -> None:
    db.rows("transaction_now", {})
    link = connection.connection.pgconn.socket
    until(lambda: select.select([link], [], [], 0.01)[0], what="the session has ended")
    db.rows("transaction_now", {})
