"""Work of another connection between two statements of the tested call."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from concurrent.futures import Future, ThreadPoolExecutor, wait
from contextlib import contextmanager
from typing import Any, Final

from django.db import connection, connections

from notifications.core.rules.lane import Mode

Work = Callable[[], object]
_WAITS_FOR_US: Final = (
    "SELECT FROM pg_locks WHERE NOT granted AND pg_backend_pid() = ANY (pg_blocking_pids(pid))"
)


@contextmanager
def before(*steps: tuple[str, Work]) -> Iterator[None]:
    """Do each work before the next statement of Django that contains its text, in this order.

    The statement runs when the work is committed, or waits for a lock of the tested call.
    Statements of `sql/` pass by, because they run on a cursor of psycopg.
    """
    left, begun = list(steps), list[Future[None]]()

    def look(execute: Callable[..., Any], sql: str, *others: object) -> object:
        if left and left[0][0] in sql:
            begun.append(pool.submit(_run, left.pop(0)[1]))
            while not begun[-1].done() and not is_awaited():
                wait(begun, timeout=0.01)
        return execute(sql, *others)

    with ThreadPoolExecutor(1) as pool, connection.execute_wrapper(look):
        yield
    for each in begun:
        each.result()
    assert not left, "no statement has the text"


@contextmanager
def key_being_stored(producer_id: int, mode: Mode, name: str) -> Iterator[None]:
    """Hold an idempotency key as a process that stores the key."""
    link = connection.copy()
    try:
        with link.cursor() as running:
            running.execute("BEGIN")
            running.execute(
                "INSERT INTO idempotency_key VALUES (%s, %s, %s, %s, '{}', now() + '1 day')",
                [producer_id, mode, name, b"x" * 16],
            )
            yield
            running.execute("ROLLBACK")
    finally:
        link.close()


def _run(work: Work) -> None:
    try:
        work()
    finally:
        connections.close_all()


def is_awaited() -> bool:
    """Return True if another connection waits for a lock of Django's connection."""
    return connection.connection.execute(_WAITS_FOR_US).fetchone() is not None
