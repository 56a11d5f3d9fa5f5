"""Rows of a day for the archive: a stream of CSV, with a fingerprint of the same rows.

The partitions are read by their own names, so that a frozen (detached) partition can be read too.
"""

from __future__ import annotations

import datetime as dt
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Final, NamedTuple

from django.db import connection, transaction
from psycopg import Copy, sql
from psycopg.errors import error_from_result
from psycopg.pq import ExecStatus
from psycopg.pq.abc import PGconn

from notifications.core.store.postgres import db
from notifications.core.store.postgres.partitions import TABLES

BLOCK_BYTES: Final = 4 * 1024 * 1024
"""Approximate size of a block of `ExportRows.blocks`."""
_SORT_MEMORY: Final = "64MB"
"""Memory of the sort by recipient; more rows are sorted on disk."""


class RowsFingerprint(NamedTuple):
    """Number of rows of a partition, and the XOR of the hashes of the rows."""

    rows: int
    value: int


@dataclass(frozen=True, slots=True)
class Day:
    """The partitions of a UTC day."""

    day: dt.date

    def names(self) -> dict[str, sql.Identifier]:
        """Return table -> name of the partition."""
        return {table: sql.Identifier(f"{table}_{self.day:%Y%m%d}") for table in TABLES}


@dataclass(frozen=True, slots=True)
class ExportRows:
    """The rows of a table on a day."""

    fingerprint: RowsFingerprint
    blocks: Iterator[bytes]
    """CSV in the column order of the statement, cut between rows."""


@contextmanager
def stream(table: str, of: Day) -> Iterator[ExportRows]:
    """Read a partition. RowsFingerprint and rows come from one snapshot; the rows are not locked.

    Raises:
        django.db.Error: the database is away, or the partition is missing.
    """
    query = sql.SQL(db.statement(f"archive_{table}")).format(**of.names())
    with transaction.atomic(), db.cursor() as running:
        running.execute("SET TRANSACTION ISOLATION LEVEL REPEATABLE READ, READ ONLY")
        running.execute(sql.SQL("SET LOCAL work_mem = {}").format(_SORT_MEMORY))
        found = fingerprint(table, of)
        copy = sql.SQL("COPY ({}) TO STDOUT (FORMAT csv)").format(query)
        with running.copy(copy) as rows:
            yield ExportRows(found, _blocks(rows))


def fingerprint(table: str, of: Day) -> RowsFingerprint:
    """Return the fingerprint of a partition."""
    with connection.cursor() as running:
        running.execute(
            "SELECT rows, fingerprint FROM partition_fingerprint(%s, %s)", [table, of.day]
        )
        return RowsFingerprint(*running.fetchone())


def recipients_without_key(of: Day) -> Iterator[int]:
    """Return the recipients of a day without an archive key, except erased recipients."""
    query = sql.SQL(db.statement("archive_recipients_without_key")).format(**of.names())
    with db.cursor() as running:
        running.execute(query)
        for row in running:
            yield row["recipient_id"]


def _blocks(copy: Copy) -> Iterator[bytes]:
    """Yield the rows of a COPY in blocks.

    `Copy.read` waits for a row. The rows that have arrived with it are taken from libpq directly,
    because a call of `Copy.read` takes longer than PostgreSQL takes for a row.
    """
    link = copy.connection.pgconn
    block: list[bytes | bytearray | memoryview] = []
    filled, size = 0, 0
    while size >= 0 and (row := copy.read()):
        size = len(row)
        while size > 0:
            block.append(row)
            filled += size
            if filled >= BLOCK_BYTES:
                yield b"".join(block)
                block, filled = [], 0
            size, row = link.get_copy_data(1)
    if size < 0:
        _end(link)
    if block:
        yield b"".join(block)


def _end(link: PGconn) -> None:
    """Read the result of a COPY after the last row.

    Raises:
        psycopg.Error: PostgreSQL stopped within the rows.
    """
    while result := link.get_result():
        if result.status != ExecStatus.COMMAND_OK:
            error = error_from_result(result)
            raise error
