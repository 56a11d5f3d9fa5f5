"""Time limits for the statements of a block, and for a commit.

each_statement   the server cancels a slow statement; the session goes on
of_session       the process ends its session, also with a frozen server
"""

from __future__ import annotations

import datetime as dt
import functools
import os
import socket
import threading
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager, suppress
from typing import Final

from django.db import Error, InterfaceError, OperationalError, connection, transaction
from psycopg.errors import LockNotAvailable, QueryCanceled

from notifications.core.store.postgres import thread_session

COMMIT_LIMIT: Final = dt.timedelta(seconds=2)


class TooSlow(Exception):
    """A statement took longer than the limit: show less, or ask again when the database is idle."""


@contextmanager
def each_statement(*, milliseconds: int) -> Iterator[None]:
    """Limit the time of every statement of the block, a transaction or a savepoint.

    Raises:
        TooSlow: a statement was cancelled; the block is rolled back.
        OperationalError: the database is away.
    """
    try:
        with transaction.atomic():
            _limit(milliseconds)
            yield
            _limit(0)
    except OperationalError as error:
        if isinstance(error.__cause__, QueryCanceled):
            raise TooSlow from error
        raise


def _limit(milliseconds: int) -> None:
    """Limit the statements until the end of the transaction; 0: no limit."""
    with connection.cursor() as cursor:
        cursor.execute(
            "SELECT set_config('statement_timeout', %s::text, true)", [str(milliseconds)]
        )


@contextmanager
def of_session(*, seconds: float) -> Iterator[None]:
    """End this thread's session if the block takes longer. The connect has its own time limit.

    A frozen server executes neither `statement_timeout` nor a cancellation, so a timer shuts down
    the socket of the session, and the waiting statement fails.

    Raises:
        TooSlow: the block took longer, or a lock was not granted within `lock_timeout`.
        OperationalError: the database is away.
        InterfaceError: the session was closed during the block.
    """
    thread_session.drop_broken()
    connection.ensure_connection()
    is_over = threading.Event()
    # A copy: the descriptor of a closed session may belong to another file a moment later.
    with socket.socket(fileno=os.dup(connection.connection.fileno())) as copy:
        timer = threading.Timer(seconds, _end, (copy, is_over))
        timer.name, timer.daemon = "time-limit", True
        timer.start()
        try:
            yield
        except (OperationalError, InterfaceError) as error:
            if is_over.is_set() or isinstance(error.__cause__, LockNotAvailable | QueryCanceled):
                raise TooSlow from error
            raise
        finally:
            timer.cancel()
            timer.join()
            if is_over.is_set():
                connection.close()


def _end(session: socket.socket, is_over: threading.Event) -> None:
    is_over.set()
    with suppress(OSError):  # the server has closed it
        session.shutdown(socket.SHUT_RDWR)


def commit_hangs() -> bool:
    """Return True if a small commit takes longer than `COMMIT_LIMIT`.

    Without its synchronous standby PostgreSQL waits for ever with a commit. No timeout of
    PostgreSQL ends that wait (`statement_timeout` is over before the commit), so a thread of its
    own commits, and the caller waits for the thread.

    An error is no hang: the next statement of the caller gets it.
    """
    probe = _prober().submit(_commit)
    try:
        probe.result(COMMIT_LIMIT.total_seconds())
    except TimeoutError:
        probe.cancel()  # one that waits for a hanging commit before it
        return True
    return False


@functools.cache
def _prober() -> ThreadPoolExecutor:
    return ThreadPoolExecutor(1, thread_name_prefix="commit-probe")


def _commit() -> None:
    try:
        with connection.cursor() as running:
            # A record in the log, of no table; a standby waits for it as for any row.
            running.execute("SELECT pg_logical_emit_message(true, 'notify', '')")
    except Error:
        return
    finally:
        connection.close()
