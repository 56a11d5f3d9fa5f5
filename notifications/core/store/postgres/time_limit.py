"""Time limits for the statements of a block.

each_statement   the server cancels a slow statement; the session goes on
of_session       this process ends its session, also with a server that is frozen
"""

from __future__ import annotations

import os
import socket
import threading
from collections.abc import Iterator
from contextlib import contextmanager, suppress

from django.db import InterfaceError, OperationalError, connection, transaction
from psycopg.errors import LockNotAvailable, QueryCanceled

from notifications.core.store.postgres import db


class TooSlow(Exception):
    """A statement took longer than the limit: show less, or ask again when the database is idle."""


@contextmanager
def each_statement(*, milliseconds: int) -> Iterator[None]:
    """Limit each statement of the block; the block is a transaction, or a savepoint in one.

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
    db.drop_broken()
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
