"""The product's three servers, with a common start and stop."""

from __future__ import annotations

import fcntl
import os
import re
import secrets
import shutil
from collections.abc import Mapping
from pathlib import Path
from types import TracebackType
from typing import IO, Final, Self, TypeVar

from notifyproj.devstack.servers.errors import EmbeddedError, plain_words
from notifyproj.devstack.servers.location import Location, find_location
from notifyproj.devstack.servers.postgres import Postgres
from notifyproj.devstack.servers.rabbitmq import RabbitMQ
from notifyproj.devstack.servers.server import Server
from notifyproj.devstack.servers.valkey import Valkey

DATABASE: Final = "DATABASE_URL"
STATE: Final = "REDIS_URL"
BROKER: Final = "CELERY_BROKER_URL"
_MIN_FREE_BYTES = 512 * 1024 * 1024
"""A new cluster takes about 80 MB; a run writes more, and a full disk stops PostgreSQL."""
_STATE_SAVE = "300 1"
"""Snapshot rule in seconds and changes; the snapshot of a demo's state is small."""


_S = TypeVar("_S", bound=Server)
_BROKERS: Final[Mapping[str, type[Valkey | RabbitMQ]]] = {"valkey": Valkey, "rabbitmq": RabbitMQ}


class Stack:
    """Real PostgreSQL and two Valkeys for one purpose (`demo`, `test`, ...) of one checkout.

    A server that `environ` names by DATABASE_URL, REDIS_URL or CELERY_BROKER_URL is used, and the
    stack starts no server in its place. `broker` is `valkey`, or `rabbitmq` for tests, if the
    system has RabbitMQ. `fresh` erases the data of the stack's servers before the start; data of a
    removed checkout at the same path is erased too. A process holds a purpose exclusively; the
    start in a second process fails. The servers end with a killed process only after a start from
    the main thread (see `child_process`).

    Raises:
        ValueError: `purpose` has other characters than lower-case letters, digits and dashes, or
            `broker` is neither `valkey` nor `rabbitmq`.
    """

    def __init__(
        self,
        purpose: str,
        *,
        root: Path,
        environ: Mapping[str, str] = os.environ,
        postgres_settings: Mapping[str, str] | None = None,
        broker: str = "valkey",
        fresh: bool = False,
    ) -> None:
        if not re.fullmatch(r"[a-z][a-z0-9-]{0,30}", purpose):
            raise ValueError(f"purpose {purpose!r}: lower-case letters, digits and dashes only")
        self.purpose = purpose
        self._root = root
        self._given = {
            name: environ[name] for name in (DATABASE, STATE, BROKER) if environ.get(name)
        }
        self._postgres_settings = postgres_settings or {}
        if broker not in _BROKERS:
            raise ValueError(f"broker {broker!r}: {' or '.join(_BROKERS)}")
        self._broker = broker
        self._fresh = fresh
        self._servers: dict[str, Server] = {}
        self._lock: IO[str] | None = None

    @property
    def folder(self) -> Path:
        """Folder of the stack's data, logs and password.

        Raises:
            EmbeddedError: the folder cannot be chosen (see `find_location`).
        """
        return find_location(self.purpose, root=self._root).folder

    @property
    def postgres(self) -> Postgres:
        """The stack's PostgreSQL; EmbeddedError if DATABASE_URL names another server."""
        return self._own(DATABASE, Postgres)

    @property
    def state(self) -> Valkey:
        """The stack's state Valkey; EmbeddedError if REDIS_URL names another server."""
        return self._own(STATE, Valkey)

    @property
    def broker(self) -> Valkey | RabbitMQ:
        """The stack's broker; EmbeddedError if CELERY_BROKER_URL names another server."""
        return self._own(BROKER, _BROKERS[self._broker])

    @property
    def valkey_broker(self) -> Valkey:
        """The stack's broker if it is a Valkey; EmbeddedError otherwise."""
        return self._own(BROKER, Valkey)

    def start(self) -> dict[str, str]:
        """Start the servers that `environ` does not name; return the URLs by variable.

        Raises:
            EmbeddedError: a server cannot run; the servers of the stack are stopped.
        """
        if len(self._given) < len((DATABASE, STATE, BROKER)):
            try:
                self._start()
            except OSError as error:
                self.stop()
                raise EmbeddedError(plain_words(error, path=self._root)) from error
            except BaseException:
                self.stop()
                raise
        return self.urls()

    def urls(self) -> dict[str, str]:
        """Return the three URLs by environment variable."""
        return {**self._given, **{name: server.url for name, server in self._servers.items()}}

    def stop(self) -> None:
        """Stop the stack's servers, Postgres last, and release the purpose."""
        for server in reversed(self._servers.values()):
            server.stop()
        self._servers = {}
        if self._lock is not None:
            self._lock.close()
            self._lock = None

    def __enter__(self) -> Self:
        self.start()
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self.stop()

    def _start(self) -> None:
        place = find_location(self.purpose, root=self._root)
        if shutil.disk_usage(place.folder).free < _MIN_FREE_BYTES:
            raise EmbeddedError(f"Less than 512 MB are free under {place.folder}: free some space.")
        self._lock = self._take_lock(place.folder / "lock")
        servers = self._make_servers(place)
        if self._fresh or not place.is_of_this_checkout():
            for server in servers.values():
                server.erase()
        place.mark()
        self._servers = {name: it for name, it in servers.items() if name not in self._given}
        for server in self._servers.values():
            server.log.unlink(
                missing_ok=True
            )  # a log per run: bounded, and the last line is of this run
            server.launch()
        for server in self._servers.values():
            server.wait_ready()

    def _make_servers(self, place: Location) -> dict[str, Server]:
        password = _password(place.folder / "password")
        settings = self._postgres_settings
        return {
            DATABASE: Postgres(place=place, password=password, settings=settings),
            STATE: Valkey("state", place=place, password=password, save=_STATE_SAVE),
            BROKER: self._make_broker(place, password),
        }

    def _make_broker(self, place: Location, password: str) -> Server:
        """Return a broker without the messages of an earlier run."""
        if self._broker == "rabbitmq":
            node = RabbitMQ("rabbitmq", place=place, password=password)
            node.erase()
            return node
        broker = Valkey("broker", place=place, password=password, save="")
        broker.forget()
        return broker

    def _take_lock(self, path: Path) -> IO[str]:
        """Lock the purpose for this process; the kernel releases the lock at the process's end.

        Raises:
            EmbeddedError: another process holds the lock.
        """
        file = path.open("a+")
        try:
            fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            file.seek(0)
            holder = file.read().strip() or "unknown"
            file.close()
            raise EmbeddedError(
                f"The {self.purpose} stack of this checkout is in use by process {holder}: "
                "stop that one first."
            ) from None
        file.truncate(0)
        file.write(str(os.getpid()))
        file.flush()
        return file

    def _own(self, name: str, kind: type[_S]) -> _S:
        server = self._servers.get(name)
        if not isinstance(server, kind):
            why = f"{name} names one of yours" if name in self._given else "it is not started"
            raise EmbeddedError(f"No embedded server for {name}: {why}.")
        return server


def _password(path: Path) -> str:
    """Return the stack's password, which the first use creates in a file for the owner alone."""
    try:
        known = path.read_text()
    except FileNotFoundError:
        known = ""
    if known:
        return known
    path.touch(mode=0o600)
    fresh = secrets.token_hex(24)
    path.write_text(fresh)
    return fresh
