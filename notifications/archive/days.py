"""Days: the steps from partitions to verified files to dropped partitions, under a lease.

A process takes a day by a lease of an hour; a lease that ends (kill -9) lets another process
continue at the first step without a row. Two processes on one day can only write two files of
different names, of which the row of `archive_file` names one: results are stored under the lease's
token. `drop_partition` compares the rows again, so even a process without the lease cannot drop
rows that the archive does not have.

Open deliveries. Only a replay leaves an open delivery in a day past retention. The id of a row
determines its partition, so a row cannot move to another partition. A copy under a new id could
send a message twice: a provider recognises a repeated call by the delivery's id, and a receipt, the
sent-ledger and a message in the broker name the old id. Therefore the day waits with all its
tables: each open delivery ends by itself, at the latest with its time to live, and the day follows.
A delivery that is open `WAITS` after the retention (its time to live was set to weeks) moves to the
dead letters, which have no partition: an operator replays the letter as a new notification.
"""

from __future__ import annotations

import datetime as dt
import tempfile
from collections.abc import Iterable, Iterator, Mapping
from concurrent.futures import Future, ThreadPoolExecutor
from pathlib import Path
from typing import Final, Self
from uuid import UUID, uuid4

import structlog
from django.db import connection, transaction
from django.db.models import QuerySet

from notifications import clock, conf
from notifications.archive import columns, export, targets
from notifications.archive.export import Written
from notifications.archive.targets import Target
from notifications.archive.verify import Damaged, verify
from notifications.models import ArchiveDay, ArchiveFile, ArchiveState
from notifications.store.postgres import archive_keys, db, partitions
from notifications.store.postgres.archive_rows import Day

_log = structlog.get_logger(__name__)

LEASE: Final = dt.timedelta(hours=1)
"""Longer than the export of one table, which several runs of the sweep can meet; each step renews
the lease."""
WAITS: Final = dt.timedelta(days=7)
"""Time after retention for which a day waits for its open deliveries."""
_PROBLEM: Final = 500
"""Characters of `ArchiveDay.problem`."""
_KEPT_WHILE_OFF: Final = (
    "NOTIFY_ARCHIVE_URL is off: the files stay below the former NOTIFY_ARCHIVE_URL, although they"
    " are older than NOTIFY_ARCHIVE_DAYS"
)


class LeaseLost(Exception):
    """Another process has the day. The process ends its work on the day without a change."""


def days_left() -> list[dt.date]:
    """Return the days past retention with partitions and all days in progress, oldest first."""
    in_progress = ArchiveDay.objects.filter(dropped_at=None).values_list("day", flat=True)
    return sorted({*partitions.past(), *in_progress})


class Lease:
    """The right to work on a day, as a context manager; `is_held` is False if another has it."""

    def __init__(self, day: dt.date) -> None:
        """Prepare; `with` takes the lease."""
        self.day = day
        self._token: UUID = uuid4()
        self.is_held = False

    def __enter__(self) -> Self:
        """Take the lease if no other process has it."""
        values = {"day": self.day, "token": self._token, "lease": LEASE}
        self.is_held = bool(db.rows("archive_take_day", values))
        return self

    def __exit__(self, *_error: object) -> None:
        """Give the lease back. A process that dies before leaves it to the lease's end."""
        if self.is_held:
            self._mine().update(leased_until=None)

    def update(self, **values: object) -> None:
        """Change the day's row and renew the lease.

        Raises:
            LeaseLost: the lease ended, and another process took the day.
        """
        if not self._mine().update(leased_until=clock.now() + LEASE, **values):
            raise LeaseLost(self.day.isoformat())

    def _mine(self) -> QuerySet[ArchiveDay]:
        return ArchiveDay.objects.filter(day=self.day, lease_token=self._token)


def advance(lease: Lease) -> bool:
    """Do all missing steps of a day; True: the partitions of the day are dropped.

    Raises:
        ArchiveUnavailable: the folder or bucket is away; all partitions stay.
        Damaged: a file was damaged, and is written again by the next run.
        OperationalError: a reader holds a table, or the database is away.
        LeaseLost: another process has the day.
    """
    target = targets.current()
    if not partitions.present(lease.day):  # a process ended after the drop
        return _finish(lease, target)
    if target is None:
        lease.update(state=ArchiveState.NOT_ARCHIVED, problem="")
    else:
        lease.update(state=ArchiveState.EXPORTING, problem="")
        export_and_verify(lease, target)
    if not partitions.freeze(lease.day):
        lease.update(state=ArchiveState.WAITING)
        return False
    if target is not None:
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
    missing = [table for table in partitions.present(lease.day) if table not in there]
    if missing:
        _delete_leftovers(lease, target)
    for table in missing:
        lease.update()
        if table == "notification":
            archive_keys.create_missing(of)
        with tempfile.TemporaryDirectory(prefix="archive-export-") as folder:
            for written in export.write(table, of, Path(folder)):
                yield _store(lease, target, written)


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
    """Verify the files that were not verified; a damaged file loses its row.

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


def _drop(lease: Lease, target: Target | None) -> bool:
    """Drop the frozen tables; tables that changed since the export are exported again, once."""
    refused = partitions.drop_frozen(lease.day)
    if refused and target is not None:
        _log.info("archive_exports_again", day=lease.day.isoformat(), tables=sorted(refused))
        _forget_files(lease, refused)
        export_and_verify(lease, target)
        refused = partitions.drop_frozen(lease.day)
    return False if refused else _finish(lease, target)


def _finish(lease: Lease, target: Target | None) -> bool:
    """Mark a day whose partitions are dropped."""
    if ArchiveDay.objects.get(day=lease.day).state != ArchiveState.NOT_ARCHIVED:
        if target is not None:
            _delete_leftovers(lease, target)
        lease.update(state=ArchiveState.ARCHIVED)
    lease.update(dropped_at=clock.now(), problem="")
    return True


def note_problem(day: dt.date, problem: str) -> None:
    """Store the error of the last try for operators."""
    ArchiveDay.objects.filter(day=day).update(problem=problem[:_PROBLEM])


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
        expired_at=clock.now(), problem=problem[:_PROBLEM]
    )
    if first and left:
        _log.warning("archive_files_left", day=day.isoformat(), files=left)
