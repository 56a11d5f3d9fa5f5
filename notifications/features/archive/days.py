"""Days: the steps from partitions to verified files to dropped partitions, under a lease.

Two processes on one day can only write two files of different names, of which the row of
`archive_file` names one: results are stored under the lease's token. `drop_partition` compares the
rows again, so even a process without the lease cannot drop rows that the archive does not have.
`past_days` explains the lease and open deliveries.
"""

from __future__ import annotations

import datetime as dt
import tempfile
from collections.abc import Iterable, Iterator, Mapping
from concurrent.futures import Future, ThreadPoolExecutor
from contextlib import contextmanager
from pathlib import Path
from typing import Final
from uuid import uuid4

import structlog
from django.db import connection, transaction

from notifications.core import clock, conf
from notifications.core.models import ArchiveDay, ArchiveFile, ArchiveState
from notifications.core.store.postgres import partitions, past_days
from notifications.core.store.postgres.past_days import PROBLEM, Lease
from notifications.features.archive import columns, export, keys, local_folders, targets
from notifications.features.archive.export import Written
from notifications.features.archive.rows import Day
from notifications.features.archive.targets import ArchiveUnavailable, Target
from notifications.features.archive.verify import Damaged, verify

_log = structlog.get_logger(__name__)

_KEPT_WHILE_OFF: Final = (
    "NOTIFY_ARCHIVE_URL is off: the files stay below the former NOTIFY_ARCHIVE_URL, although they"
    " are older than NOTIFY_ARCHIVE_DAYS"
)


def advance(lease: Lease) -> bool:
    """Do all missing steps of a day; True: the partitions of the day are dropped.

    Raises:
        ArchiveUnavailable: the folder or bucket is away; all partitions stay.
        Damaged: a file was damaged, and is written again by the next run.
        OperationalError: a reader holds a table, or the database is away.
        LeaseLost: another process has the day.
    """
    target = targets.current()
    if target is None:
        return past_days.drop(lease)
    if not partitions.present(lease.day):  # a process ended after the drop
        return _finish(lease, target)
    lease.update(state=ArchiveState.EXPORTING, problem="")
    export_and_verify(lease, target)
    if not partitions.freeze(lease.day):
        lease.update(state=ArchiveState.WAITING)
        return False
    lease.update(state=ArchiveState.DROPPING)
    return _drop(lease, target)


def export_and_verify(lease: Lease, target: Target) -> None:
    """Do both for a day; a file is verified while the next table is exported.

    Raises:
        ArchiveUnavailable, Damaged, LeaseLost, OperationalError: as `advance`.
    """
    with ThreadPoolExecutor(1, "archive-verify") as verifier:
        running = {
            file.name: verifier.submit(_verify_apart, file, target)
            for file in export_missing(lease, target)
        }
        verify_missing(lease, target, running)


def _verify_apart(file: ArchiveFile, target: Target) -> int:
    """Verify a file in a thread, which has a database connection of its own."""
    try:
        return verify(file, target)
    finally:
        connection.close()


def export_missing(lease: Lease, target: Target) -> Iterator[ArchiveFile]:
    """Export the tables without a complete file, and delete unnamed files; yields the files.

    Raises:
        ArchiveUnavailable, LeaseLost, OperationalError: as `advance`.
    """
    of = Day(lease.day)
    _forget_lost_files(lease, target)
    there = set(ArchiveFile.objects.filter(day_id=lease.day).values_list("table", flat=True))
    if columns.KEY_INDEX not in there:  # a process ended between the files of the notifications
        there.discard("notification")
    missing = [table for table in partitions.present(lease.day) if table not in there]
    local_folders.delete_left()
    if missing:
        _delete_leftovers(lease, target)
    for table in missing:
        lease.update()
        if table == "notification":
            keys.create_missing(of)
        with _local_folder() as folder:
            for written in export.write(table, of, folder):
                yield _store(lease, target, written)


@contextmanager
def _local_folder() -> Iterator[Path]:
    """Make a folder for new files until storage.

    Raises:
        ArchiveUnavailable: the local disk is full or not writable.
    """
    try:
        with local_folders.local_folder() as folder:
            yield folder
    except OSError as error:  # pyarrow's, too
        raise ArchiveUnavailable(f"{tempfile.gettempdir()}: {error}") from error


def _store(lease: Lease, target: Target, written: Written) -> ArchiveFile:
    name = f"{lease.day}/{written.table}-{uuid4().hex[:12]}.parquet"
    target.put(name, written.path)
    facts = {
        "name": name,
        "rows": written.fingerprint.rows,
        "bytes": written.bytes,
        "sha256": written.sha256,
        "fingerprint": written.fingerprint.value,
        "checksums": written.checksums,
        "verified_at": None,
    }
    with transaction.atomic():
        lease.update()
        file, _ = ArchiveFile.objects.update_or_create(
            day_id=lease.day, table=written.table, defaults=facts
        )
    _log.info("archive_file_written", file=name, rows=written.fingerprint.rows)
    return file


def _delete_leftovers(lease: Lease, target: Target) -> None:
    """Delete files of a killed or repeated export.

    The lease is renewed after the list is made, so the list has no file of a later process.
    """
    stored = target.sizes(lease.day.isoformat())
    lease.update()
    named = set(ArchiveFile.objects.filter(day_id=lease.day).values_list("name", flat=True))
    for name in stored:
        if name not in named:
            target.delete(name)


def verify_missing(
    lease: Lease, target: Target, running: Mapping[str, Future[int]] | None = None
) -> None:
    """Verify the unverified files; the row of a damaged file is deleted.

    `running`: name of a file -> its verification in another thread.

    Raises:
        Damaged: a file differs from the export; the next run writes the file again.
        ArchiveUnavailable: as `advance`.
        LeaseLost: as `advance`.
    """
    for file in ArchiveFile.objects.filter(day_id=lease.day, verified_at=None):
        lease.update()
        try:
            verification = (running or {}).get(file.name)
            verification.result() if verification else verify(file, target)
        except Damaged:
            _forget_files(lease, [file.table])
            raise
        with transaction.atomic():
            lease.update()
            ArchiveFile.objects.filter(pk=file.pk, sha256=file.sha256).update(
                verified_at=clock.now()
            )


def _forget_lost_files(lease: Lease, target: Target) -> None:
    """Forget files that are gone or cut short, or that a former NOTIFY_ARCHIVE_URL has.

    A verified file can be lost while its day waits.
    """
    sizes = target.sizes(lease.day.isoformat())
    files = ArchiveFile.objects.filter(day_id=lease.day)
    lost = [file for file in files if sizes.get(file.name) != file.bytes]
    if lost:
        _log.warning("archive_files_lost", files=sorted(file.name for file in lost))
        _forget_files(lease, [file.table for file in lost])


def _forget_files(lease: Lease, tables: Iterable[str]) -> None:
    """Forget files, so that the tables are exported again.

    The file of the notifications has details of events and attempts, and the key index is written
    with the notifications: these tables go together.
    """
    forgotten = set(tables)
    if forgotten & {"event", "attempt", "notification", columns.KEY_INDEX}:
        forgotten |= {"notification", columns.KEY_INDEX}
    with transaction.atomic():
        lease.update()
        ArchiveFile.objects.filter(day_id=lease.day, table__in=forgotten).delete()


def _drop(lease: Lease, target: Target) -> bool:
    """Drop the frozen tables; tables that changed since the export are exported again, once."""
    refused = partitions.drop_frozen(lease.day)
    if refused:
        _log.info("archive_exports_again", day=lease.day.isoformat(), tables=sorted(refused))
        _forget_files(lease, refused)
        export_and_verify(lease, target)
        refused = partitions.drop_frozen(lease.day)
    return False if refused else _finish(lease, target)


def _finish(lease: Lease, target: Target) -> bool:
    """Delete unnamed files of a day after the drop of the partitions, and mark the day."""
    if ArchiveDay.objects.get(day=lease.day).state != ArchiveState.NOT_ARCHIVED:
        _delete_leftovers(lease, target)
    past_days.finish(lease)
    return True


def expire(*, today: dt.date) -> int:
    """Delete the files of days past the archive's retention; returns the number of days.

    Safe to run twice: deleting a missing file is no error, and the row follows the last file. Files
    below a former NOTIFY_ARCHIVE_URL stay there, and the day's `problem` names them.

    Raises:
        ArchiveUnavailable: the folder or bucket is away; the day stays for the next run.
    """
    target = targets.current()
    old = ArchiveDay.objects.filter(
        state=ArchiveState.ARCHIVED, day__lt=today - conf.current().archive_kept
    )
    if target is None:
        old.exclude(problem=_KEPT_WHILE_OFF).update(problem=_KEPT_WHILE_OFF)
        return 0
    days = list(old.values_list("day", flat=True))
    for day in days:
        stored = target.sizes(day.isoformat())
        _note_left_files(day, stored)
        for name in stored:
            target.delete(name)
        ArchiveDay.objects.filter(day=day).update(
            state=ArchiveState.EXPIRED, expired_at=clock.now()
        )
    return len(days)


def _note_left_files(day: dt.date, stored: Iterable[str]) -> None:
    """Store which files of a day are not in the archive, before the first file is deleted.

    `expired_at` shows a repeated run that files may be missing because the first run deleted them.
    """
    names = ArchiveFile.objects.filter(day_id=day).values_list("name", flat=True)
    left = sorted(set(names) - set(stored))
    problem = ""
    if left:
        problem = (
            f"{len(left)} files are not below NOTIFY_ARCHIVE_URL and were not deleted. Delete them"
            f" below the former NOTIFY_ARCHIVE_URL: {', '.join(left)}"
        )
    first = ArchiveDay.objects.filter(day=day, expired_at=None).update(
        expired_at=clock.now(), problem=problem[:PROBLEM]
    )
    if first and left:
        _log.warning("archive_files_left", day=day.isoformat(), files=left)
