"""Export: the rows of a table on a day become a Parquet file.

Two threads share the work: the first reads PostgreSQL's CSV in blocks of a few megabytes, the
second parses, encrypts, compresses and writes a block as a row group. At most two blocks wait, so
the memory does not grow with the day. A block is cut between rows and is sorted like the file.
"""

from __future__ import annotations

import hashlib
from collections import deque
from concurrent.futures import Future, ThreadPoolExecutor
from contextlib import ExitStack
from dataclasses import dataclass, field
from pathlib import Path
from types import TracebackType
from typing import Final, Self

import pyarrow as pa
import pyarrow.csv
import pyarrow.parquet as pq

from notifications.features.archive import columns, keys, personal
from notifications.features.archive import rows as archive_rows
from notifications.features.archive.rows import Day, RowsFingerprint

_WAITING_BLOCKS: Final = 2
_KEYS_SORTED: Final = 500_000
"""Entries of the key index sorted together: about 50 MB. The index of a larger day has
several sorted parts."""
_INDEX_GROUP: Final = 32_768
"""Entries of a row group of the key index."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Written:
    """A local Parquet file."""

    table: str
    path: Path
    fingerprint: RowsFingerprint
    checksums: dict[str, int]
    sha256: str
    bytes: int


class CountDiffers(Exception):
    """PostgreSQL sent and counted different numbers of rows in the same snapshot."""


def write(table: str, of: Day, folder: Path) -> list[Written]:
    """Write the files of a table into a local folder: for notifications also the key index.

    Raises:
        CountDiffers: the stream ended early.
        django.db.Error: the database is away.
    """
    with ExitStack() as closing:
        rows = closing.enter_context(archive_rows.stream(table, of))
        file = closing.enter_context(_File(table, folder))
        index = (
            closing.enter_context(_File(columns.KEY_INDEX, folder))
            if table == "notification"
            else None
        )
        writer = closing.enter_context(ThreadPoolExecutor(1, f"archive-{table}"))
        parser = _Parser(table, file, _KeyIndex(index) if index else None)
        running: deque[Future[None]] = deque()
        for block in rows.blocks:
            running.append(writer.submit(parser.add, block))
            if len(running) > _WAITING_BLOCKS:
                running.popleft().result()
        for each in running:
            each.result()
        parser.end()
        found = rows.fingerprint
    if file.rows != found.rows:
        raise CountDiffers(f"{table}_{of.day}: {file.rows} rows sent, {found.rows} counted")
    written = [file.written(found)]
    if index:
        written.append(index.written(RowsFingerprint(index.rows, 0)))
    return written


def _compression(column: str) -> str:
    """Encrypted values do not become smaller."""
    return "none" if column == columns.PERSONAL else "zstd"


class _File:
    """A Parquet file in progress, with a row group per batch."""

    def __init__(self, table: str, folder: Path) -> None:
        self._table = table
        self._path = folder / f"{table}.parquet"
        schema = columns.FILES[table]
        ids = columns.IDS[table]
        names = [name for name in schema.names if name not in {*ids, columns.PERSONAL, "hash"}]
        self._writer = pq.ParquetWriter(
            self._path,
            schema,
            compression={name: _compression(name) for name in schema.names},
            use_dictionary=names,
            column_encoding=dict.fromkeys(ids, "DELTA_BYTE_ARRAY"),
            write_page_checksum=True,
        )
        self._checksums: dict[str, int] = {}
        self.rows = 0

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self._writer.close()

    def add(self, batch: pa.RecordBatch) -> None:
        """Append a row group."""
        self._checksums = columns.checksums(batch, self._checksums)
        self._writer.write_batch(batch, row_group_size=max(batch.num_rows, 1))
        self.rows += batch.num_rows

    def written(self, fingerprint: RowsFingerprint) -> Written:
        """Return the facts of the closed file."""
        return Written(
            table=self._table,
            path=self._path,
            fingerprint=fingerprint,
            checksums=self._checksums,
            sha256=sha256_of(self._path),
            bytes=self._path.stat().st_size,
        )


def sha256_of(path: Path) -> str:
    """Return the SHA-256 of a file, as hexadecimal digits."""
    with path.open("rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()


@dataclass(slots=True)
class _KeyIndex:
    """Hash of the idempotency key -> notification, sorted by hash."""

    file: _File
    entries: list[tuple[int, str]] = field(default_factory=list)

    def add(self, batch: pa.RecordBatch) -> None:
        key = keys.hash_keys()[0]
        names = ("id", "producer_id", "mode", "idempotency_key")
        rows = zip(*(batch.column(name).to_pylist() for name in names), strict=True)
        self.entries += [
            (personal.hash_key(producer, mode, given, key), id_)
            for id_, producer, mode, given in rows
            if given
        ]
        if len(self.entries) >= _KEYS_SORTED:
            self.flush()

    def flush(self) -> None:
        self.entries.sort()
        schema = columns.FILES[columns.KEY_INDEX]
        for start in range(0, len(self.entries), _INDEX_GROUP):
            hashes, ids = zip(*self.entries[start : start + _INDEX_GROUP], strict=True)
            self.file.add(pa.record_batch([pa.array(hashes, pa.int64()), pa.array(ids)], schema))
        self.entries = []


@dataclass(slots=True)
class _Parser:
    """CSV blocks to row groups."""

    table: str
    file: _File
    index: _KeyIndex | None

    def add(self, block: bytes) -> None:
        """Parse, encrypt and write a block. Runs in the second thread, without the database."""
        for batch in parse(self.table, block).combine_chunks().to_batches():
            if self.index:
                self.index.add(batch)
            self.file.add(_for_file(self.table, batch))

    def end(self) -> None:
        """Write the rest of the index."""
        if self.index:
            self.index.flush()


def parse(table: str, block: bytes) -> pa.Table:
    """Parse whole rows of CSV; an empty field is null, a quoted empty field an empty text."""
    source = columns.SOURCE[table]
    return pyarrow.csv.read_csv(
        pa.BufferReader(block),
        read_options=pyarrow.csv.ReadOptions(
            column_names=list(source), use_threads=False, block_size=len(block) + 1
        ),
        parse_options=pyarrow.csv.ParseOptions(newlines_in_values=True),
        convert_options=pyarrow.csv.ConvertOptions(
            column_types=dict(source),
            null_values=[""],
            true_values=["t"],
            false_values=["f"],
            strings_can_be_null=True,
            quoted_strings_can_be_null=False,
        ),
    )


def _for_file(table: str, batch: pa.RecordBatch) -> pa.RecordBatch:
    schema = columns.FILES[table]
    if table != "notification":
        return batch
    plain = [batch.column(name) for name in schema.names if name != columns.PERSONAL]
    return pa.record_batch([*plain, personal.seal(batch)], schema)
