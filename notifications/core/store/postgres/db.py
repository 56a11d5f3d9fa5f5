"""Named SQL on Django's own connection.

A psycopg cursor is used under Django's, because it binds on the server and reads in binary: an
array of five hundred ids is one parameter instead of twenty kilobytes of text. Transactions stay
Django's.
"""

from __future__ import annotations

import datetime as dt
import functools
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from types import TracebackType
from typing import Any, Final, Generic, LiteralString, TypeVar, cast

import psycopg
from django.db import (
    IntegrityError,
    InternalError,
    OperationalError,
    connection,
    transaction,
)
from psycopg.pq import ConnStatus, Format
from psycopg.rows import RowFactory, dict_row, tuple_row

from notifications.core import feature
from notifications.core.store.postgres import copy_text, insert_texts, thread_session
from notifications.core.store.postgres.arrays import bound

Answer = TypeVar("Answer")

_SQL: Final = Path(__file__).parent / "sql"
_FEW: Final = 100
"""Records that are inserted without COPY, which takes two round trips a table."""
_MILLISECOND: Final = dt.timedelta(milliseconds=1)
_TRIES: Final = 3
_PASSING: Final = (
    psycopg.errors.DeadlockDetected,
    psycopg.errors.ReadOnlySqlTransaction,
    psycopg.errors.UniqueViolation,
)
"""Refusals that a repeat avoids. Rows are locked in id order, so a deadlock comes from outside (an
operator's UPDATE). The refusal of a read-only server closes the session: after a failover, the next
session reaches the new primary. A row that another transaction inserted at the same moment is seen
by the repeat (`attempts.sql`)."""


@functools.cache
def statement(name: str) -> LiteralString:
    """Return the text of `sql/<name>.sql`, of the core or of a feature, without its comments.

    Names are unique over the core and the features.
    """
    lines = feature.path_of(_SQL, f"{name}.sql").read_text().splitlines()
    # The file is part of the program: nobody's input can reach it.
    text = "\n".join(line for line in lines if not line.lstrip().startswith("--"))
    return cast("LiteralString", text)  # type: ignore[redundant-cast]  # mypy: str, psycopg: not


def is_writable() -> bool:
    """Return True if the server takes writes: no standby, and not read-only.

    Raises:
        django.db.Error: the server is away.
    """
    with cursor() as running:
        running.execute("SELECT current_setting('transaction_read_only') = 'off' AS writable")
        return bool((running.fetchone() or {}).get("writable"))


class _Errors:
    """Translates psycopg's errors into Django's; a read-only server counts as away.

    After a failover, sessions may be connected to a server that became a standby. The refusal of
    the standby (25006) closes the session, so that the next session finds the new primary.
    """

    def __enter__(self) -> None:
        """Do nothing."""

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        """Translate.

        Raises:
            OperationalError: the server is away, or takes no writes.
            InternalError: as psycopg raised it.
        """
        if error is None:
            return
        try:
            connection.wrap_database_errors.__exit__(kind, error, trace)
        except InternalError as translated:
            if not is_read_only(translated):
                raise
            connection.close()
            raise OperationalError(*translated.args) from error


errors: Final = _Errors()


@contextmanager
def cursor() -> Iterator[psycopg.Cursor[dict[str, Any]]]:
    """Open a server-binding cursor on this thread's connection; rows are dicts.

    Raises:
        django.db.Error: the translated error of psycopg, in the block.
    """
    with errors, _cursor(dict_row) as running:
        yield running


def is_read_only(error: Exception) -> bool:
    """Return True if a Django error says that the server is read-only."""
    return isinstance(error.__cause__, psycopg.errors.ReadOnlySqlTransaction)


def is_undone(error: Exception) -> bool:
    """Return True if the server answered with a refusal, so that the transaction is rolled back.

    After any other error the result of a running commit is unknown.
    """
    cause, link = error.__cause__, connection.connection
    refused = isinstance(cause, psycopg.Error) and cause.sqlstate is not None
    return refused and link is not None and link.pgconn.status == ConnStatus.OK


def _cursor(
    factory: RowFactory[Answer], session: psycopg.Connection[Any] | None = None
) -> psycopg.Cursor[Answer]:
    fresh = psycopg.Cursor(session or thread_session.current(), row_factory=factory)
    fresh.format = Format.BINARY
    return fresh


def rows(name: str, parameters: Mapping[str, object]) -> list[dict[str, Any]]:
    """Run `sql/<name>.sql` and return all rows.

    Raises:
        django.db.Error: the translated error of psycopg.
    """
    with errors, _cursor(tuple_row) as running:
        running.execute(statement(name), bound(parameters))
        names = [column.name for column in running.description or ()]
        # A row factory of psycopg runs a Python function for each row.
        return [dict(zip(names, row, strict=True)) for row in running.fetchall()] if names else []


def stream(name: str, parameters: Mapping[str, object]) -> Iterator[dict[str, Any]]:
    """Run `sql/<name>.sql` and yield each row on arrival, for rows that are large together.

    The caller takes all rows before the next statement.

    Raises:
        django.db.Error: as `rows`.
    """
    with errors, _cursor(dict_row) as running:
        yield from running.stream(statement(name), bound(parameters))


def fetch_as(
    name: str, parameters: Mapping[str, object], make: Callable[..., Answer]
) -> list[Answer]:
    """Run `sql/<name>.sql` and call `make` with the columns of each row.

    Raises:
        django.db.Error: as `rows`.
    """
    return [make(*row) for row in tuples(name, parameters)]


def tuples(name: str, parameters: Mapping[str, object]) -> list[tuple[Any, ...]]:
    """Run `sql/<name>.sql` and return the columns of each row.

    Raises:
        django.db.Error: as `rows`.
    """
    with errors, _cursor(tuple_row) as running:
        running.execute(statement(name), bound(parameters))
        return running.fetchall() if running.description else []


@dataclass(frozen=True, slots=True)
class Query(Generic[Answer]):
    """A statement of `sql/`, the parameters, and the row constructor (see `fetch_as`)."""

    name: str
    parameters: Mapping[str, object]
    make: Callable[..., Answer]


def fetch_all(queries: Sequence[Query[Answer]]) -> list[list[Answer]]:
    """Run several reading statements in a round trip; return a result per statement.

    Raises:
        django.db.Error: as `rows`.
    """
    if len(queries) == 1:
        return [fetch_as(each.name, each.parameters, each.make) for each in queries]
    with errors:
        session = thread_session.current()
        cursors = [_cursor(tuple_row, session) for _ in queries]
        with session.pipeline():
            for running, each in zip(cursors, queries, strict=True):
                running.execute(statement(each.name), bound(each.parameters))
            return [
                [each.make(*row) for row in running.fetchall()]
                for running, each in zip(cursors, queries, strict=True)
            ]


def run(name: str, parameters: Mapping[str, object]) -> int:
    """Run `sql/<name>.sql` and return the number of affected rows."""
    with errors, _cursor(dict_row) as running:
        running.execute(statement(name), bound(parameters))
        return running.rowcount


def columns(rows_: Sequence[Any]) -> dict[str, object]:
    """Return the fields of named tuples (at least one) as parameters for one `unnest`."""
    return dict(zip(rows_[0]._fields, map(column, zip(*rows_, strict=True)), strict=True))


def column(values: Sequence[object]) -> list[object]:
    """Return the values (at least one) as a parameter for `unnest`; without a value an empty list.

    `unnest` fills up the shorter arrays with NULL.
    """
    is_empty = values[0] is None and values.count(None) == len(values)
    return [] if is_empty else list(values)


@dataclass(frozen=True, slots=True)
class Rows:
    """Records of a table, with a value for every column."""

    table: str
    columns: tuple[str, ...]
    records: Sequence[Sequence[object]]


def insert(*tables: Rows, patience: dt.timedelta | None = None) -> None:
    """Insert records into tables, all or none; joins an open transaction.

    A few records use one statement; many records use COPY. `patience` limits the wait for a lock
    of these records; later statements of an open transaction wait as usual.

    Raises:
        IntegrityError: a violation, such as of a unique index.
        OperationalError: a lock was not granted in time, or the database is away.
    """
    filled = [each for each in tables if each.records]
    if not filled:
        return
    if connection.in_atomic_block and patience is not None:
        with patient_for(patience):
            insert(*filled)
        return
    is_patient = patience is not None
    if sum(map(len, [each.records for each in filled])) <= _FEW:
        shape = tuple([(each.table, each.columns, len(each.records)) for each in filled])
        values = [value for each in filled for record in each.records for value in record]
        if patience is not None:
            values.append(str(patience // _MILLISECOND))
        with errors, _raw_cursor() as running:
            running.execute(insert_texts.insert(shape, is_patient=is_patient), values)
        return
    with transaction.atomic(), errors, _cursor(dict_row) as running:
        if patience is not None:
            wait_for_locks(patience)
        for each in filled:
            with running.copy(insert_texts.copy(each.table, each.columns)) as stream:
                stream.write(copy_text.encode(each.records))


def copy_lines(table: str, columns: tuple[str, ...], lines: Sequence[str]) -> None:
    """Insert rows by COPY, encoded by `copy_text`; joins the open transaction.

    Raises:
        IntegrityError: a violation, such as of a unique index.
        DataError: a value does not fit its column.
    """
    if not lines:
        return
    with (
        errors,
        _cursor(dict_row) as running,
        running.copy(insert_texts.copy(table, columns)) as stream,
    ):
        stream.write("".join(lines).encode())


def wait_for_locks(patience: dt.timedelta) -> None:
    """Limit the waits for locks until the open transaction ends."""
    _set_lock_timeout(str(patience // _MILLISECOND))


@contextmanager
def patient_for(patience: dt.timedelta) -> Iterator[None]:
    """Limit the waits for locks during the block, in an open transaction.

    After an error the rollback restores the limit.
    """
    usual = _set_lock_timeout(str(patience // _MILLISECOND))
    yield
    _set_lock_timeout(usual)


def _set_lock_timeout(limit: str) -> str:
    """Set the limit for the open transaction; returns the limit before."""
    with errors, _raw_cursor() as running:
        # Postgres evaluates the columns from left to right.
        running.execute(
            "SELECT current_setting('lock_timeout'), set_config('lock_timeout', $1, true)", [limit]
        )
        [before, _] = running.fetchone() or ("", "")
        return str(before)


def _raw_cursor() -> psycopg.RawCursor[Any]:
    """Return a cursor with Postgres's placeholders ($1), so that psycopg skips parsing."""
    return psycopg.RawCursor(thread_session.current())


def in_transaction(work: Callable[[], Answer]) -> Answer:
    """Run `work` in one transaction, again after a passing refusal; joins an open transaction.

    Raises:
        OperationalError, IntegrityError: any other refusal of the database, or the third passing
            refusal.
    """

    def atomically() -> Answer:
        with transaction.atomic():
            return work()

    return work() if connection.in_atomic_block else _retry(atomically)


def after_commit(work: Callable[[], object]) -> None:
    """Run `work` after the commit of an open transaction, else at once; its errors are logged.

    `work` may be a partial: Django's log asks for a name, which a partial does not have.
    """

    def run() -> None:
        work()

    transaction.on_commit(run, robust=True)


def fetch_in_own_transaction(name: str, parameters: Mapping[str, object]) -> list[dict[str, Any]]:
    """Run `sql/<name>.sql` in a separate transaction, again after a passing refusal.

    Raises:
        OperationalError: as `in_transaction`.
    """
    return retry_refused(lambda: rows(name, parameters))


def retry_refused(one: Callable[[], Answer]) -> Answer:
    """Run one statement without BEGIN and COMMIT, again after a passing refusal.

    Joins an open transaction.

    Raises:
        OperationalError: as `in_transaction`.
    """
    return one() if connection.in_atomic_block else _retry(one)


def _retry(work: Callable[[], Answer]) -> Answer:
    for tries_left in reversed(range(_TRIES)):
        try:
            return work()
        except (OperationalError, IntegrityError) as error:
            if not isinstance(error.__cause__, _PASSING) or not tries_left:
                raise
    raise AssertionError  # the last try returns or raises
