"""A day goes to the archive and leaves the database only when the archive has each row."""

from __future__ import annotations

import datetime as dt
import json
from collections.abc import Callable
from pathlib import Path

import pyarrow.parquet as pq
import pytest
from django.db import connection

from notifications.core import clock, conf
from notifications.core.models import ArchiveDay, ArchiveFile, ArchiveKey, ArchiveState
from notifications.core.rules import ids
from notifications.core.store.postgres import partitions, past_days
from notifications.core.store.postgres.past_days import Lease, LeaseLost
from notifications.features.archive import days, export, rows, targets
from notifications.features.archive.targets import ArchiveUnavailable, Folder
from notifications.features.archive.verify import Damaged
from tests.features.archive.conftest import DAY, Configure
from tests.old_days import drop_day
from tests.past_rows import id_of

pytestmark = pytest.mark.django_db(transaction=True)
_COUNTS = {"notification": 40, "delivery": 40, "attempt": 40, "event": 160, "key": 20}


def _advance(day: dt.date) -> bool:
    with Lease(day) as lease:
        assert lease.is_held
        return days.advance(lease)


def test_a_day_is_exported_verified_and_dropped(day: dt.date, folder: Path) -> None:
    assert _advance(day)
    assert partitions.present(day) == []
    row = ArchiveDay.objects.get(day=day)
    assert (row.state, row.leased_until, row.problem) == (ArchiveState.ARCHIVED, None, "")
    assert row.dropped_at is not None
    files = {file.table: file for file in row.files.all()}
    assert {name: file.rows for name, file in files.items()} == _COUNTS
    assert all(file.verified_at for file in files.values())
    stored = sorted(path.relative_to(folder).as_posix() for path in folder.rglob("*.*"))
    assert stored == sorted(file.name for file in files.values())
    for file in files.values():
        metadata = pq.ParquetFile(folder / file.name).metadata
        assert metadata.num_rows == file.rows
        assert metadata.row_group(0).column(0).compression == "ZSTD"
    recipients = pq.read_table(folder / files["notification"].name)["recipient_id"].to_pylist()
    assert recipients == sorted(recipients)
    assert ArchiveKey.objects.count() == 8


def test_a_day_without_rows_has_empty_files(folder: Path, transactional_db: None) -> None:  # noqa: ARG001 - fixtures by name
    day = clock.now().date() - conf.current().retention - 4 * DAY
    partitions.ensure(day, days=0)
    try:
        assert _advance(day)
        assert set(ArchiveFile.objects.values_list("rows", flat=True)) == {0}
    finally:
        drop_day(day)


@pytest.mark.usefixtures("folder")
def test_a_row_that_changed_after_the_export_is_exported_again(
    day: dt.date, monkeypatch: pytest.MonkeyPatch
) -> None:
    frozen = partitions.freeze

    def late_receipt(of: dt.date) -> bool:
        with connection.cursor() as running:
            running.execute(
                "INSERT INTO event (notification_id, delivery_id, status, detail, reason, at)"
                " VALUES (%s, %s, 7, 'a late receipt', '', now())",
                [id_of(day, 1), ids.delivery_id(id_of(day, 1), 1)],
            )
        return frozen(of)

    with monkeypatch.context() as patched:
        patched.setattr(partitions, "freeze", late_receipt)
        assert _advance(day)
    counts = dict(ArchiveFile.objects.values_list("table", "rows"))
    assert counts == _COUNTS | {"event": 161}


@pytest.mark.usefixtures("folder")
def test_an_open_delivery_keeps_its_day(day: dt.date) -> None:
    open_one = ids.delivery_id(id_of(day, 3), 1)
    with connection.cursor() as running:
        running.execute("UPDATE delivery SET due_at = now() WHERE id = %s", [open_one])
        assert not _advance(day)
        assert ArchiveDay.objects.get(day=day).state == ArchiveState.WAITING
        assert sorted(partitions.present(day)) == sorted(partitions.TABLES)
        running.execute("SELECT count(*) FROM delivery WHERE id = %s", [open_one])
        assert running.fetchone() == (1,)
        running.execute("UPDATE delivery SET due_at = NULL WHERE id = %s", [open_one])
    assert _advance(day)


def test_a_damaged_file_is_found_and_written_again(
    day: dt.date, folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    put = Folder.put

    def damage(self: Folder, name: str, source: Path) -> None:
        put(self, name, source)
        path = folder / name
        if name.startswith(f"{day}/event"):
            content = bytearray(path.read_bytes())
            content[len(content) // 2] ^= 1
            path.write_bytes(content)

    with monkeypatch.context() as patched:
        patched.setattr(Folder, "put", damage)
        with pytest.raises(Damaged, match="SHA-256"):
            _advance(day)
    assert sorted(partitions.present(day)) == sorted(partitions.TABLES)
    assert _advance(day)
    assert dict(ArchiveFile.objects.values_list("table", "rows")) == _COUNTS
    assert len(list(folder.rglob("*.parquet"))) == len(_COUNTS)


def test_an_unavailable_archive_keeps_the_day(
    day: dt.date, tmp_path: Path, configure: Configure
) -> None:
    (tmp_path / "file").touch()
    configure(archive_url=(tmp_path / "file" / "below").as_uri())
    with pytest.raises(ArchiveUnavailable):
        _advance(day)
    assert sorted(partitions.present(day)) == sorted(partitions.TABLES)


def test_a_file_that_is_deleted_before_the_verification_is_written_again(
    day: dt.date, folder: Path
) -> None:
    with Lease(day) as lease:
        target = targets.current()
        assert target is not None
        list(days.export_missing(lease, target))
    for path in folder.rglob("delivery-*"):
        path.unlink()
    assert _advance(day)
    assert dict(ArchiveFile.objects.values_list("table", "rows")) == _COUNTS


def test_without_an_archive_the_day_is_dropped_and_marked(
    day: dt.date, configure: Configure
) -> None:
    configure(archive_url=conf.NO_ARCHIVE)
    assert _advance(day)
    assert partitions.present(day) == []
    assert ArchiveDay.objects.get(day=day).state == ArchiveState.NOT_ARCHIVED
    assert ArchiveFile.objects.count() == 0


@pytest.mark.usefixtures("folder")
def test_the_database_refuses_to_drop_rows_that_are_not_verified(day: dt.date) -> None:
    assert set(partitions.drop_frozen(day).values()) == {"attached"}
    with Lease(day) as lease:
        assert partitions.freeze(day)
        assert set(partitions.drop_frozen(day).values()) == {"not verified"}
        target = targets.current()
        assert target is not None
        list(days.export_missing(lease, target))
        assert set(partitions.drop_frozen(day).values()) == {"not verified"}
        days.verify_missing(lease, target)
        with connection.cursor() as running:
            running.execute(f"UPDATE attempt_{day:%Y%m%d} SET latency_ms = 1 WHERE latency_ms = 51")  # noqa: S608 - a date
        assert partitions.drop_frozen(day) == {"attempt": "changed"}
        assert sorted(partitions.present(day)) == sorted(partitions.TABLES)


@pytest.mark.usefixtures("folder")
def test_a_second_process_gets_no_lease_until_the_first_ends(day: dt.date) -> None:
    with Lease(day) as first:
        with Lease(day) as second:
            assert (first.is_held, second.is_held) == (True, False)
        ArchiveDay.objects.update(leased_until=clock.now() - DAY)
        with Lease(day) as third:
            assert third.is_held
            with pytest.raises(LeaseLost):
                days.advance(first)


def test_a_frozen_day_is_finished_after_the_retention_was_raised(
    day: dt.date, folder: Path, configure: Configure
) -> None:
    with Lease(day):
        assert partitions.freeze(day)
    configure(archive_url=folder.as_uri(), retention=200 * DAY)
    assert past_days.days_to_archive() == [day]
    assert _advance(day)


def test_files_expire(day: dt.date, folder: Path) -> None:
    assert _advance(day)
    kept = conf.current().archive_kept
    assert days.expire(today=day + kept) == 0
    assert len(list(folder.rglob("*.parquet"))) == len(_COUNTS)
    assert days.expire(today=day + kept + DAY) == 1
    assert days.expire(today=day + kept + DAY) == 0
    assert list(folder.rglob("*")) == []
    row = ArchiveDay.objects.get(day=day)
    assert row.state == ArchiveState.EXPIRED
    assert row.expired_at is not None


def test_files_below_a_former_url_are_named(
    day: dt.date,
    folder: Path,
    tmp_path: Path,
    configure: Configure,
    log_output: Callable[[], str],
) -> None:
    assert _advance(day)
    end = day + conf.current().archive_kept + DAY
    moved = ArchiveFile.objects.get(table="event").name
    now_in = tmp_path / "new"
    (now_in / str(day)).mkdir(parents=True)
    (folder / moved).rename(now_in / moved)
    configure(archive_url=now_in.as_uri())
    assert days.expire(today=end) == 1
    assert days.expire(today=end) == 0
    assert list(now_in.rglob("*")) == []
    assert len(list(folder.rglob("*.parquet"))) == len(_COUNTS) - 1
    row = ArchiveDay.objects.get(day=day)
    assert row.state == ArchiveState.EXPIRED
    left = sorted(row.files.exclude(name=moved).values_list("name", flat=True))
    assert row.problem.endswith("the former NOTIFY_ARCHIVE_URL: " + ", ".join(left))
    lines = map(json.loads, log_output().splitlines())
    assert [each["files"] for each in lines if each["event"] == "archive_files_left"] == [left]


def test_a_killed_expiry_names_no_file_that_it_deleted(
    day: dt.date, folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    assert _advance(day)
    end = day + conf.current().archive_kept + DAY
    delete = Folder.delete

    def die_at_the_last(self: Folder, name: str) -> None:
        if len(list(folder.rglob("*.parquet"))) == 1:
            raise KeyboardInterrupt
        delete(self, name)

    with monkeypatch.context() as patched:
        patched.setattr(Folder, "delete", die_at_the_last)
        with pytest.raises(KeyboardInterrupt):
            days.expire(today=end)
    assert days.expire(today=end) == 1
    row = ArchiveDay.objects.get(day=day)
    assert (row.state, row.problem) == (ArchiveState.EXPIRED, "")
    assert list(folder.rglob("*")) == []


def test_without_an_archive_the_days_past_its_retention_say_so(
    day: dt.date, folder: Path, configure: Configure
) -> None:
    assert _advance(day)
    end = day + conf.current().archive_kept + DAY
    configure(archive_url=conf.NO_ARCHIVE)
    assert days.expire(today=end) == 0
    row = ArchiveDay.objects.get(day=day)
    assert (row.state, row.expired_at) == (ArchiveState.ARCHIVED, None)
    assert row.problem.startswith("NOTIFY_ARCHIVE_URL is off")
    configure(archive_url=folder.as_uri())
    assert days.expire(today=end) == 1
    assert ArchiveDay.objects.get(day=day).problem == ""


def test_blocks_are_cut_between_rows(
    day: dt.date, folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("notifications.features.archive.rows.BLOCK_BYTES", 2_000)
    monkeypatch.setattr(export, "_KEYS_SORTED", 5)
    assert _advance(day)
    file = ArchiveFile.objects.get(table="notification")
    assert pq.ParquetFile(folder / file.name).metadata.num_row_groups > 2
    assert dict(ArchiveFile.objects.values_list("table", "rows")) == _COUNTS


@pytest.mark.usefixtures("folder")
def test_a_row_larger_than_a_block_is_exported(day: dt.date, folder: Path) -> None:
    with connection.cursor() as running:
        running.execute(
            "UPDATE notification SET variables = jsonb_build_object('x', repeat(%s, 2500000))"
            " WHERE id = %s",
            ['a"\n,', id_of(day, 2)],
        )
        running.execute(
            "SELECT octet_length(variables::text) FROM notification WHERE id = %s", [id_of(day, 2)]
        )
        (size,) = running.fetchone()
    assert size > rows.BLOCK_BYTES
    assert _advance(day)
    file = ArchiveFile.objects.get(table="notification")
    assert pq.read_metadata(folder / file.name).num_rows == 40


def test_an_export_begins_where_a_process_ended(
    day: dt.date, monkeypatch: pytest.MonkeyPatch
) -> None:
    write = export.write
    seen: list[str] = []

    def interrupted(table: str, *others: object) -> object:
        seen.append(table)
        if len(seen) == 3:
            raise KeyboardInterrupt
        return write(table, *others)  # type: ignore[arg-type]  # as given

    monkeypatch.setattr(export, "write", interrupted)
    with pytest.raises(KeyboardInterrupt):
        _advance(day)
    assert _advance(day)
    assert len(seen) == len(partitions.TABLES) + 1
