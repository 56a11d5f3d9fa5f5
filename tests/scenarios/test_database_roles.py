"""The role of the processes owns nothing: PostgreSQL refuses all beyond the work of the service.

The other scenarios run as the same role, and show the permitted statements.
"""

from __future__ import annotations

import datetime as dt
from collections.abc import Iterator
from typing import Final
from urllib.parse import urlsplit

import psycopg
import pytest

from notifications.core.store.postgres import session_settings
from notifications.core.store.postgres.partitions import TABLES
from tests import roles
from tests.scenarios.world import World

_BEFORE_CHRIST: Final = (
    "((current_date + (to_char(current_date, 'MMDD') = '0229')::int)::text || ' BC')::date"
)
"""Today's date before Christ; on a leap day that of tomorrow, because those years were no leap
years."""


def _drop(link: psycopg.Connection, table: str, day: dt.date) -> object:
    row = link.execute("SELECT drop_partition(%s, %s)", [table, day]).fetchone()
    assert row is not None
    return row[0]


@pytest.fixture
def app(world: World) -> Iterator[psycopg.Connection]:
    """A session as the processes have it."""
    parts = urlsplit(world.stack.postgres.url)
    with psycopg.connect(
        host=parts.hostname,
        port=parts.port,
        dbname=parts.path.removeprefix("/"),
        user="notify_app",
        password=roles.PASSWORDS["app"],
        autocommit=True,
    ) as link:
        yield link


@pytest.mark.parametrize(
    "statement",
    [
        "ALTER TABLE delivery ADD COLUMN extra int",
        "DROP TABLE notifications_producer",
        "TRUNCATE notifications_deadletter",
        # What keeps the audit log append-only.
        "ALTER TABLE notifications_auditentry DISABLE TRIGGER ALL",
        "DROP TRIGGER audit_stays ON notifications_auditentry",
        "CREATE OR REPLACE FUNCTION audit_stays() RETURNS trigger LANGUAGE sql AS ''",
        "SET session_replication_role = replica",
        "CREATE TABLE more (id int)",
        "CREATE TEMP TABLE delivery (id uuid)",
        "CREATE SCHEMA more",
        "CREATE ROLE more",
        "ALTER ROLE notify_app SUPERUSER",
        "ALTER ROLE notify_owner PASSWORD 'known'",
        "SET ROLE notify_owner",
        "COPY (SELECT 1) TO PROGRAM 'true'",
        "COPY notifications_producer FROM PROGRAM 'true'",
        "COPY (SELECT 1) TO '/tmp/rows'",
        "SELECT pg_read_file('/etc/passwd')",
        "CREATE EXTENSION file_fdw",
        "ALTER FUNCTION make_partitions(date) SECURITY INVOKER",
        "CREATE OR REPLACE FUNCTION first_id_of(day date) RETURNS uuid LANGUAGE sql RETURN NULL",
        "SELECT make_partitions(current_date + 365)",
        "SELECT drop_partition('delivery', current_date)",
        "SELECT freeze_partition('delivery', current_date)",
        "SELECT freeze_partition('producer', date '2020-01-01')",
        "SELECT drop_partition('producer', date '2020-01-01')",
        # The partition would have the name of today's.
        f"SELECT drop_partition('event', {_BEFORE_CHRIST})",
        "SELECT drop_partition('event', '-infinity')",
        f"SELECT make_partitions({_BEFORE_CHRIST})",
    ],
)
def test_the_apps_role_cannot(app: psycopg.Connection, statement: str) -> None:
    with pytest.raises(psycopg.errors.InsufficientPrivilege):
        app.execute(statement)


def test_the_apps_role_owns_nothing(app: psycopg.Connection) -> None:
    owned = app.execute("SELECT relname FROM pg_class WHERE relowner = 'notify_app'::regrole")
    assert owned.fetchall() == []
    owners = app.execute(
        "SELECT DISTINCT pg_get_userbyid(relowner) FROM pg_class"
        " WHERE relnamespace = 'public'::regnamespace"
    )
    assert owners.fetchall() == [("notify_owner",)]


def test_the_apps_role_makes_a_missing_day_and_drops_an_old_one(app: psycopg.Connection) -> None:
    day = app.execute("SELECT current_date - 3000").fetchone()
    assert day is not None
    # The lease keeps the running sweep `archive` from the day, which an earlier run may have left.
    app.execute(
        "INSERT INTO archive_day (day, state, leased_until, started_at, problem)"
        " VALUES (%s, 'waiting', now() + interval '1 hour', now(), '')"
        " ON CONFLICT (day) DO UPDATE SET (state, leased_until, dropped_at)"
        " = (excluded.state, excluded.leased_until, NULL)",
        day,
    )
    app.execute("SELECT make_partitions(%s)", day)
    assert _tables(app, day[0]) == sorted(f"{table}_{day[0]:%Y%m%d}" for table in TABLES)
    for table in TABLES:
        assert _drop(app, table, day[0]) == "attached"
        app.execute("SELECT freeze_partition(%s, %s)", [table, day[0]])
        assert _drop(app, table, day[0]) == "not verified"
    app.execute("UPDATE archive_day SET state = 'not_archived' WHERE day = %s", day)
    for table in TABLES:
        assert _drop(app, table, day[0]) == "dropped"
    assert _tables(app, day[0]) == []
    app.execute(
        "UPDATE archive_day SET leased_until = NULL, dropped_at = now() WHERE day = %s", day
    )


def test_its_sessions_have_the_settings_of_the_service(app: psycopg.Connection) -> None:
    found = {
        name: app.execute("SELECT current_setting(%s)", [name]).fetchone()
        for name in session_settings.WANTED
    }
    assert found == {name: (value,) for name, value in session_settings.WANTED.items()}


def test_making_the_roles_again_changes_nothing(world: World, app: psycopg.Connection) -> None:
    before = _privileges(app)
    roles.make(world.stack.postgres.url)
    assert _privileges(app) == before


def _privileges(app: psycopg.Connection) -> list[tuple[object, ...]]:
    return app.execute("SELECT relname, relacl::text FROM pg_class ORDER BY 1").fetchall()


def _tables(app: psycopg.Connection, day: dt.date) -> list[str]:
    named = app.execute(
        "SELECT relname FROM pg_class WHERE relkind = 'r' AND relname LIKE %s ORDER BY 1",
        [f"%\\_{day:%Y%m%d}"],
    )
    return [name for (name,) in named.fetchall()]
