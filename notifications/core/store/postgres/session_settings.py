"""Settings of database sessions, stored at the database role, and the number of sessions.

A transaction pooler (pgbouncer) refuses or drops settings of a client's connection. So `migrate`
stores the missing settings with ALTER ROLE ... IN DATABASE. If the processes connect as another
role, docs/compose/roles.sql stores the settings at the role; `/readyz` and `manage.py check
--database default` name the missing settings.
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
    # A commit that does not wait for the disk and a standby is lost with the server.
    "synchronous_commit": "on",
    # The warning of a commit without its standby (`backend.base`) must reach the session.
    "client_min_messages": "notice",
}
_AS_GOOD: Final[Mapping[str, frozenset[str]]] = {
    "synchronous_commit": frozenset({"remote_apply"}),
    "client_min_messages": frozenset({
        "debug5",
        "debug4",
        "debug3",
        "debug2",
        "debug1",
        "log",
        "warning",
    }),
}
"""Other values with the same effect, which an operator may choose."""

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
    return {
        name: value
        for name, value in found.items()
        if value != WANTED[name] and value not in _AS_GOOD.get(name, ())
    }


def store() -> None:
    """Store the missing settings at the current role for the database, and apply them here."""
    lacking = missing()
    with db.cursor() as running:
        name = sql.Identifier(connection.settings_dict["NAME"])
        for setting, value in WANTED.items():
            if setting in lacking:
                text = sql.SQL(setting)
                running.execute(_KEEP.format(database=name, setting=text, value=value))
                running.execute(_USE.format(setting=text, value=value))


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
