"""The database wrapper that Django makes for each thread, and the sessions of the wrapper.

With synchronous standbys a commit waits for a standby. PostgreSQL ends the wait early after a
cancellation (`pg_cancel_backend`, a pooler, a client's cancel request): the transaction is then
committed on the primary only, the client gets a WARNING, and the statement succeeds. After a
failover the transaction is gone. Therefore a session turns the warning into an error: the caller
answers 503 or tries again, as after a COMMIT whose answer was lost. If PostgreSQL ends the session
during the wait (`pg_terminate_backend`, a shutdown), the caller gets the error of a lost session.

The session recognises the warning by the function of the server that sends the warning, because the
text has the language of `lc_messages`.
Source: https://github.com/postgres/postgres/blob/REL_18_STABLE/src/backend/replication/syncrep.c
"""

from __future__ import annotations

import functools
import weakref
from contextlib import suppress
from types import SimpleNamespace, TracebackType
from typing import Any, Final, Self, TypeVar

import psycopg
from django.db import DEFAULT_DB_ALIAS
from django.db.backends.postgresql import base
from django.db.utils import DatabaseErrorWrapper
from psycopg.abc import PQGen
from psycopg.waiting import Ready, Wait

from notifications.core.store.postgres import arrays, disk, session_limit
from notifications.core.store.postgres.backend import hung_servers

_WAITS_FOR_STANDBY: Final = "SyncRepWaitForLSN"
_TooLong: Final = psycopg.errors._WaitTimeout  # noqa: SLF001 - the documentation of `wait` names it
_INTERVAL: Final = 0.1
"""Seconds between two checks for a signal, as in psycopg."""

Result = TypeVar("Result")


class NotReplicatedError(psycopg.OperationalError):
    """The wait for a synchronous standby was cancelled: the commit may be lost with this server."""


class Session(psycopg.Connection[Any]):
    """A session that raises an error for a commit without its standby, and for a hung server."""

    is_replicated = True
    parameters: hung_servers.Parameters

    def __init__(self, *arguments: Any, **options: Any) -> None:  # noqa: ANN401 - those of psycopg
        super().__init__(*arguments, **options)
        self.add_notice_handler(functools.partial(_note, weakref.ref(self)))

    @classmethod
    def connect(cls, conninfo: str = "", **parameters: Any) -> Self:  # noqa: ANN401 - those of psycopg
        """Open a session to the first host that can be used.

        Raises:
            HungServerError: each host is hung.
            OperationalError: no host takes the session.
        """
        usable, hung = hung_servers.separate(parameters)
        if usable is not None:
            try:
                session = cls._open(conninfo, usable, parameters)
            except psycopg.OperationalError:
                if hung is None:
                    raise
            else:
                if not hung_servers.is_hung_at_first(parameters, session.address):
                    return session
                session.close()
                return cls.connect(conninfo, **parameters)
        return cls._open(conninfo, hung_servers.recovered(hung or parameters), parameters)

    @classmethod
    def _open(
        cls, conninfo: str, hosts: hung_servers.Parameters, parameters: hung_servers.Parameters
    ) -> Self:
        session = super().connect(conninfo, **hosts)
        arrays.register(session)
        session.parameters = parameters
        return session

    @property
    def address(self) -> hung_servers.Address:
        """Host and port of the server."""
        return self.info.host, str(self.info.port)

    def wait(
        self, gen: PQGen[Result], interval: float = _INTERVAL, timeout: float | None = None
    ) -> Result:
        """Run a statement, a COPY or a commit.

        Raises:
            NotReplicatedError: a commit without a standby; the session is closed.
            HungServerError: the server has stopped to answer; the session is closed.
            _TooLong: psycopg itself gave a limit, for a cancellation.
        """
        try:
            result = super().wait(gen, interval, timeout or hung_servers.PATIENCE)
        except _TooLong:
            if timeout is not None:
                raise
            result = self._wait_long(gen, interval)
        if not self.is_replicated:
            self.close()
            raise NotReplicatedError(
                "the wait for a synchronous standby was cancelled; the transaction may be lost"
            )
        return result

    def _wait_long(self, gen: PQGen[Result], interval: float) -> Result:
        """Wait on while the server ends the commits of others.

        Raises:
            HungServerError: as `wait`.
        """
        resumed = _resume(gen)
        while not hung_servers.is_hung(self.parameters, self.address):
            with suppress(_TooLong):
                return super().wait(resumed, interval, hung_servers.PATIENCE)
        self.close()
        raise hung_servers.HungServerError("a statement and a test commit did not end")


def _resume(gen: PQGen[Result]) -> PQGen[Result]:
    """Continue a generator that a wait has left; each further wait begins with `next`."""
    ready = yield Wait.RW
    while True:
        try:
            ready = yield gen.send(ready or Ready.NONE)
        except StopIteration as end:
            result: Result = end.value
            return result


def _note(session: weakref.ref[Session], notice: psycopg.errors.Diagnostic) -> None:
    waiting = session()
    if waiting is not None and notice.source_function == _WAITS_FOR_STANDBY:
        waiting.is_replicated = False


class _NotingErrors(DatabaseErrorWrapper):
    """Django's translation of errors, also of those at the opening of a session."""

    def __init__(self, wrapper: DatabaseWrapper) -> None:
        super().__init__(wrapper)
        self._is_replica = wrapper.alias != DEFAULT_DB_ALIAS

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        if error is None:
            return
        if not self._is_replica:  # a full disk of the read replica stops no write
            disk.note(error)
            session_limit.note(error)
        super().__exit__(kind, error, trace)


class DatabaseWrapper(base.DatabaseWrapper):
    """Django's wrapper for PostgreSQL, which opens sessions of this module."""

    @functools.cached_property
    def wrap_database_errors(self) -> _NotingErrors:
        """The context in which Django runs each statement."""
        return _NotingErrors(self)

    # Django takes the function `connect` and the classes of errors from here.
    Database = SimpleNamespace(**{**vars(psycopg), "connect": Session.connect})  # type: ignore[assignment] # declared as a module
