"""The database wrapper that Django makes for each thread, and its sessions.

With synchronous standbys a commit waits until a standby has it. PostgreSQL ends that wait early
when somebody cancels it (`pg_cancel_backend`, a pooler, a client's cancel request): the transaction
is then committed on this server only, the client gets a WARNING, and the statement succeeds. After
a failover the transaction is gone. So a session turns the warning into an error: the caller answers
503 or tries again, as after a COMMIT whose answer was lost. When PostgreSQL ends the session during
the wait (`pg_terminate_backend`, a shutdown), the caller gets the error of a lost session.

The test is the name of the server's function that sends the warning, because its text has the
language of `lc_messages`. Source: https://github.com/postgres/postgres/blob/REL_18_STABLE/src/backend/replication/syncrep.c
"""

from __future__ import annotations

import functools
import weakref
from types import SimpleNamespace
from typing import Any, Final, TypeVar

import psycopg
from django.db.backends.postgresql import base
from psycopg.abc import PQGen

_WAITS_FOR_STANDBY: Final = "SyncRepWaitForLSN"
_INTERVAL: Final = 0.1
"""Seconds between two checks for a signal, as in psycopg."""

Result = TypeVar("Result")


class NotReplicatedError(psycopg.OperationalError):
    """The wait for a synchronous standby was cancelled: the commit may be lost with this server."""


class Session(psycopg.Connection[Any]):
    """A session that raises an error after a commit which no standby confirmed."""

    is_replicated = True

    def __init__(self, *arguments: Any, **options: Any) -> None:  # noqa: ANN401 - those of psycopg
        super().__init__(*arguments, **options)
        self.add_notice_handler(functools.partial(_note, weakref.ref(self)))

    def wait(
        self, gen: PQGen[Result], interval: float = _INTERVAL, timeout: float | None = None
    ) -> Result:
        """Run a statement, a COPY or a commit.

        Raises:
            NotReplicatedError: a commit without a standby; the session is closed.
        """
        result = super().wait(gen, interval, timeout)
        if not self.is_replicated:
            self.close()
            raise NotReplicatedError(
                "the wait for a synchronous standby was cancelled; the transaction may be lost"
            )
        return result


def _note(session: weakref.ref[Session], notice: psycopg.errors.Diagnostic) -> None:
    waiting = session()
    if waiting is not None and notice.source_function == _WAITS_FOR_STANDBY:
        waiting.is_replicated = False


class DatabaseWrapper(base.DatabaseWrapper):
    """Django's wrapper for PostgreSQL, which opens sessions of this module."""

    # Django takes the function `connect` and the classes of errors from here.
    Database = SimpleNamespace(**{**vars(psycopg), "connect": Session.connect})  # type: ignore[assignment] # declared as a module
