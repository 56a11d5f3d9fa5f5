"""A time limit for the statements of a block."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager

from django.db import OperationalError, connection, transaction
from psycopg.errors import QueryCanceled


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
