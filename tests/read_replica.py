"""A real standby of the tests' server, set as the read replica of this process."""

from __future__ import annotations

import signal
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any, Final
from unittest.mock import patch
from urllib.parse import urlsplit

import pytest
from django.db import connection, connections

from notifications.core.store.postgres import replica
from notifications.core.store.postgres.backend import base, hung_servers
from notifyproj import postgres_url
from notifyproj.devstack.demo.environment import until
from notifyproj.devstack.servers import Stack
from notifyproj.devstack.servers.postgres import Postgres
from tests.standbys import Standby, run, signal_all

_DEFAULTS: Final[dict[str, Any]] = {"CONN_MAX_AGE": 3_600, "DISABLE_SERVER_SIDE_CURSORS": True}


@contextmanager
def running_standby(primary: Postgres, name: str = "replica") -> Iterator[Standby]:
    """Copy the tests' server and start the copy; the folder is removed at the end."""
    standby = Standby(name, of=primary)
    standby.erase()
    standby.start()
    try:
        yield standby
    finally:
        signal_all(standby, signal.SIGCONT)
        standby.kill()
        standby.erase()


@pytest.fixture(scope="module")
def standby(stack: Stack, django_db_setup: None) -> Iterator[Standby]:  # noqa: ARG001 - the tests' database is copied
    """A standby of the tests' server, for the tests of a module."""
    with running_standby(stack.postgres) as server:
        yield server


@pytest.fixture
def used(standby: Standby, transactional_db: None) -> Iterator[Standby]:  # noqa: ARG001 - it ends after this fixture
    """The standby as the read replica."""
    wait_for_replay(standby)
    with as_replica(url_of(standby)):
        yield standby


@contextmanager
def delayed(standby: Standby) -> Iterator[None]:
    """Let the standby keep back the commits of the block until its end."""
    run(standby, "ALTER SYSTEM SET recovery_min_apply_delay = '1h'")
    run(standby, "SELECT pg_reload_conf()")
    try:
        yield
    finally:
        run(standby, "ALTER SYSTEM RESET recovery_min_apply_delay")
        run(standby, "SELECT pg_reload_conf()")
        wait_for_replay(standby)


def url_of(standby: Standby, database: str = "") -> str:
    """Return the URL of the tests' database, or of another one, on a standby."""
    known = urlsplit(standby.url)
    name = database or str(connection.settings_dict["NAME"])
    return known._replace(path=f"/{name}").geturl()


@contextmanager
def as_replica(url: str) -> Iterator[None]:
    """Let this process use a server as its read replica, as settings.py does."""
    found = {**postgres_url.settings_of(postgres_url.validate_replica(url), is_replica=True)}
    both = connections.configure_settings({
        "default": dict(connections.settings["default"]),
        replica.ALIAS: {**found, **_DEFAULTS},
    })
    connections.settings[replica.ALIAS] = both[replica.ALIAS]
    _use_again()
    try:
        with patch.object(base.DatabaseWrapper, "ensure_connection", _connect):
            yield
    finally:
        connections[replica.ALIAS].close()
        del connections[replica.ALIAS]
        del connections.settings[replica.ALIAS]
        _use_again()
        hung_servers._standings.clear()


def _use_again() -> None:
    """Let this process use the replica as a new process does."""
    replica._outage.fault = ""
    replica._compared.session = None


def _connect(wrapper: base.DatabaseWrapper) -> None:
    """Do as Django's `ensure_connection`, which a test class replaces to refuse other aliases."""
    if wrapper.connection is None:
        with wrapper.wrap_database_errors:
            wrapper.connect()


def wait_for_replay(standby: Standby) -> None:
    """Wait until the standby shows all that is committed now."""
    [(written,)] = run_on_primary("SELECT pg_current_wal_flush_lsn()::text")

    def has_all() -> bool:
        found = run(standby, "SELECT pg_last_wal_replay_lsn()::text")
        return _position(found[0][0]) >= _position(written)

    until(has_all, what="the standby has replayed all")


def run_on_primary(statement: str) -> list[tuple[Any, ...]]:
    """Run a statement in the tests' database, outside of each block of a replica."""
    with connection.cursor() as running:
        running.execute(statement)
        return list(running.fetchall()) if running.description else []


def is_on_standby() -> bool:
    """Return True if this thread's default database is a standby; for `replica.read`."""
    return bool(run_on_primary("SELECT pg_is_in_recovery()")[0][0])


def statements(standby: Standby) -> set[str]:
    """Return the last statement of each session of the tests' database on a standby."""
    name = str(connection.settings_dict["NAME"])
    rows = run(standby, "SELECT datname, application_name, query FROM pg_stat_activity")
    return {
        query
        for database, application, query in rows
        if (database, application) == (name, "notify")
    }


def _position(lsn: str) -> int:
    high, low = lsn.split("/")
    return int(high, 16) << 32 | int(low, 16)
