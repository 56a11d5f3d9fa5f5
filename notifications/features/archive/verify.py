"""Verification: a file is read back from the folder or bucket and compared with the export."""

from __future__ import annotations

from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq

from notifications.core.models import ArchiveFile
from notifications.features.archive import columns, local_folders, personal
from notifications.features.archive.export import sha256_of
from notifications.features.archive.targets import Target


class Damaged(Exception):
    """A file differs from the export. The partition stays, and the file is written again."""


def verify(file: ArchiveFile, target: Target) -> int:
    """Compare SHA-256, number of rows, checksums and personal values; returns the readable values.

    Values of erased recipients are not readable, and are not an error.

    Raises:
        Damaged: the file differs.
        ArchiveUnavailable: the folder or bucket does not answer, or has no such file.
        UnreadableKey: an encryption key is missing in the settings.
    """
    with local_folders.local_folder() as folder:
        copy = folder / "copy.parquet"
        target.get(file.name, copy)
        if (found := sha256_of(copy)) != file.sha256:
            raise Damaged(f"{file.name}: SHA-256 is {found}, expected {file.sha256}")
        try:
            return _compare(file, copy)
        except (pa.ArrowException, personal.Unreadable) as error:
            raise Damaged(f"{file.name}: {error}") from error


def _compare(file: ArchiveFile, copy: Path) -> int:
    rows, readable = 0, 0
    checksums: dict[str, int] = {}
    with pq.ParquetFile(copy, page_checksum_verification=True) as parquet:
        schema = columns.FILES[file.table]
        if parquet.schema_arrow not in (schema, columns.FORMER.get(file.table)):
            raise Damaged(f"{file.name}: other columns than {', '.join(schema.names)}")
        for group in range(parquet.num_row_groups):
            (batch,) = parquet.read_row_group(group).combine_chunks().to_batches()
            checksums = columns.checksums(batch, checksums)
            rows += batch.num_rows
            if columns.PERSONAL in schema.names:
                readable += personal.count_readable(batch)
    if rows != file.rows:
        raise Damaged(f"{file.name}: {rows} rows, expected {file.rows}")
    if differing := [name for name, crc in checksums.items() if file.checksums[name] != crc]:
        raise Damaged(f"{file.name}: the values of {', '.join(differing)} differ")
    return readable
