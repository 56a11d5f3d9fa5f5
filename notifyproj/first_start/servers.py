"""Checks of the database, the state Redis and the broker before the first rows.

Each check names the fault and the cure. Nothing is changed: `migrate` makes the tables.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Final, LiteralString

from django.db import Error, connection

from notifications.core import broker, clock, conf
from notifications.core.store.postgres import db, host_clock, session_settings, unapplied_migrations
from notifications.core.store.redis import state

_LEAST_VERSION: Final = 150_000
"""PostgreSQL 15 (`docs/deploy.md`), as the server's number."""
_KEEPS_ALL: Final = "noeviction"
_COMPARISONS: Final = 3
"""Tries for an answer that is quick enough to compare clocks."""


@dataclass(frozen=True, slots=True)
class Finding:
    """A line about a server."""

    subject: str
    detail: str
    is_good: bool = True


def database() -> Iterator[Finding]:
    """Check reachability, version, mode, clock and role. A bad finding is the last."""
    try:
        version = int(str(_value("SELECT current_setting('server_version_num')")))
    except Error as error:
        said = str(error).strip().splitlines()[0]
        yield Finding("database", f"{said}. Check DATABASE_URL and its password.", is_good=False)
        return
    name = f"PostgreSQL {version // 10_000}.{version % 10_000}"
    if version < _LEAST_VERSION:
        yield Finding("database", f"{name}: version 15 or later is needed.", is_good=False)
        return
    if not db.is_writable():
        said = f"{name} takes no writes: DATABASE_URL names a standby or a read-only server."
        yield Finding("database", said, is_good=False)
        return
    yield Finding("database", name)
    yield _clock()
    yield from _role()


def _clock() -> Finding:
    clock.watch(limit=conf.current().max_clock_skew)
    for _ in range(_COMPARISONS):
        if host_clock.compare():
            break
    said = host_clock.fault()
    return Finding("clock", f"{said}." if said else "agrees with the database", is_good=not said)


def _role() -> Iterator[Finding]:
    with connection.cursor() as running:
        running.execute("SELECT rolname, rolsuper FROM pg_roles WHERE rolname = current_user")
        name, is_superuser = running.fetchone() or ("", False)
    yield Finding("role", str(name))
    if is_superuser:
        said = (
            f"{name} is a superuser, so a fault of a process could change the server:"
            " docs/compose/roles.sql makes a role for migrate and a role for the processes."
        )
        yield Finding("note", said)


def may_migrate() -> bool:
    """Return True if the role of this process may create tables."""
    return bool(_value("SELECT has_schema_privilege(current_user, 'public', 'CREATE')"))


def unapplied() -> list[str]:
    """Return the migrations that the database lacks."""
    return unapplied_migrations.find()


def tables() -> Iterator[Finding]:
    """Check that the processes can use the tables."""
    lacking = unapplied()
    if lacking:
        cure = (
            "run init --migrate."
            if may_migrate()
            else "the role may not make tables. In Compose: docker compose logs migrate. Elsewhere"
            " run manage.py migrate as the role that owns the tables."
        )
        said = f"{len(lacking)} migrations are not applied: {cure}"
        yield Finding("tables", said, is_good=False)
        return
    if not _may_write():
        said = "the role may not write rows: docs/compose/roles.sql gives the rights."
        yield Finding("tables", said, is_good=False)
        return
    yield Finding("tables", "all migrations are applied")
    connection.close()  # a new session has the settings that `migrate` stored
    for name, value in session_settings.missing().items():
        wanted = session_settings.WANTED[name]
        said = f"{name} of the sessions is {value}, not {wanted}: see docs/compose/roles.sql."
        yield Finding("note", said)


def _may_write() -> bool:
    return bool(_value("SELECT has_table_privilege('notifications_producer', 'INSERT')"))


def _value(statement: LiteralString) -> object:
    with connection.cursor() as running:
        running.execute(statement)
        row = running.fetchone()
    return row[0] if row else None


def memory_servers() -> Iterator[Finding]:
    """Check the state Redis and the broker: reachable, and refusing writes before dropping keys."""
    fault = state.probe()
    try:
        policy = "" if fault else state.eviction_policy()
    except state.Away:
        fault = "does not answer"
        policy = ""
    yield _of_memory_server("state Redis", "REDIS_URL", fault=fault, policy=policy)
    fault = "" if broker.probe() else broker.fault()
    policy = "" if fault else broker.eviction_policy()
    yield _of_memory_server("broker", "CELERY_BROKER_URL", fault=fault, policy=policy)


def _of_memory_server(name: str, variable: str, *, fault: str, policy: str) -> Finding:
    if fault:
        return Finding(name, f"{fault}. Check {variable} and its password.", is_good=False)
    if policy not in {"", _KEEPS_ALL}:
        said = f"may drop keys (maxmemory-policy={policy}): set it to {_KEEPS_ALL}."
        return Finding(name, said, is_good=False)
    return Finding(name, "takes writes")
