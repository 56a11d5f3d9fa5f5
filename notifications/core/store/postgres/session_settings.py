"""Settings of database sessions, stored at the database role, and the number of sessions.

A transaction pooler (pgbouncer) refuses or drops settings of a client's connection. So `migrate`
stores the settings with ALTER ROLE ... IN DATABASE. If the processes connect as another role,
docs/compose/roles.sql stores the settings at the role; `/readyz` and `manage.py check --database
default` name the missing settings.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Final, LiteralString

from django.db import connection
from psycopg import sql

from notifications.core.store.postgres import db

WANTED: Final[Mapping[LiteralString, str]] = {
    # A transaction that a stuck process leaves open would keep its row locks.
    "idle_in_transaction_session_timeout": "30s",
    # A row that is locked for two seconds has its holder in trouble; the caller comes back.
    "lock_timeout": "2s",
    # Compiling costs more than our short statements take, above all with many partitions.
    "jit": "off",
}

_KEEP: Final = sql.SQL("ALTER ROLE CURRENT_USER IN DATABASE {database} SET {setting} = {value}")
_USE: Final = sql.SQL("SET {setting} = {value}")


def missing() -> dict[str, str]:
    """Return name and value of the session settings with a wrong value.

    Raises:
        django.db.Error: the database is away.
    """
    with connection.cursor() as running:
        running.execute(
            "SELECT name, current_setting(name) FROM unnest(%s::text[]) AS name",
            [list(WANTED)],
        )
        found: dict[str, str] = dict(running.fetchall())
    return {name: value for name, value in found.items() if value != WANTED[name]}


def store() -> None:
    """Store the settings at the current role for the database, and apply the settings here."""
    if not missing():
        return
    with db.cursor() as running:
        name = sql.Identifier(connection.settings_dict["NAME"])
        for setting, value in WANTED.items():
            running.execute(_KEEP.format(database=name, setting=sql.SQL(setting), value=value))
            running.execute(_USE.format(setting=sql.SQL(setting), value=value))


@dataclass(frozen=True, slots=True, kw_only=True)
class Sessions:
    """Sessions of the database now."""

    by_state: Mapping[str, int]
    """Sessions by PostgreSQL's state, such as `active`, `idle` and `idle in transaction`."""
    limit: int
    """Most sessions of the server."""


def count_sessions() -> Sessions:
    """Count the sessions.

    Raises:
        django.db.Error: the database is away.
    """
    rows = db.rows("database_sessions", {})
    return Sessions(by_state={row["state"]: row["sessions"] for row in rows}, limit=rows[0]["most"])
