"""A process that continues late, a folder that changes between runs, an end between two steps."""

from __future__ import annotations

import datetime as dt
from pathlib import Path
from typing import Any

import pytest
from django.db import connection

from notifications.core import clock
from notifications.core.models import ArchiveDay, ArchiveFile, ArchiveState
from notifications.core.rules import ids
from notifications.core.store.postgres import partitions
from notifications.core.store.postgres.past_days import Lease, LeaseLost
from notifications.features.archive import days, export, sweep
from notifications.features.archive.targets import ArchiveUnavailable, Folder
from tests.features.archive.conftest import DAY, Configure
from tests.past_rows import id_of

pytestmark = pytest.mark.django_db(transaction=True)


def _advance(day: dt.date) -> bool:
    with Lease(day) as lease:
        assert lease.is_held
        return days.advance(lease)


def _names() -> set[str]:
    return set(ArchiveFile.objects.values_list("name", flat=True))


def _stored(folder: Path) -> set[str]:
    return {path.relative_to(folder).as_posix() for path in folder.rglob("*.parquet")}


def test_the_sweep_finishes_a_day_whose_process_ended_after_the_drop(
    day: dt.date, folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    listed, calls = Folder.sizes, iter(range(100))

    def away(self: Folder, of: str) -> dict[str, int]:
        if not partitions.present(day) and not next(calls):
            raise ArchiveUnavailable("the bucket is away after the drop")
        return listed(self, of)

    monkeypatch.setattr(Folder, "sizes", away)
    sweep.run_once(now=clock.now(), limit=100)
    assert partitions.present(day) == []
    sweep.run_once(now=clock.now(), limit=100)
    row = ArchiveDay.objects.get(day=day)
    assert (row.state, row.problem) == (ArchiveState.ARCHIVED, "")
    assert row.dropped_at is not None
    assert _stored(folder) == _names()


def test_a_process_that_continues_without_its_lease_deletes_no_file_of_the_next(
    day: dt.date, folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    listed, calls = Folder.sizes, iter(range(100))

    def frozen(self: Folder, of: str) -> dict[str, int]:
        if not next(calls):  # the process stops here for longer than its lease
            ArchiveDay.objects.update(leased_until=clock.now() - DAY)
            assert _advance(day)
        return listed(self, of)

    monkeypatch.setattr(Folder, "sizes", frozen)
    with pytest.raises(LeaseLost):
        _advance(day)
    assert partitions.present(day) == []
    assert len(_names()) == 5
    assert _stored(folder) == _names()


@pytest.mark.parametrize("table", ["notification", "event", "attempt"])
def test_an_error_of_a_process_without_its_lease_is_no_problem_of_the_day(
    day: dt.date, folder: Path, monkeypatch: pytest.MonkeyPatch, table: str
) -> None:
    written, is_first = export.write, iter([True])

    def frozen(name: str, *arguments: Any) -> list[export.Written]:  # noqa: ANN401 - the product's own
        if name == table and next(is_first, False):  # it stops here for longer than its lease
            ArchiveDay.objects.update(leased_until=clock.now() - DAY)
            assert _advance(day)
        return written(name, *arguments)

    monkeypatch.setattr(export, "write", frozen)
    assert sweep.run_once(now=clock.now(), limit=100).failed == 0
    assert not next(is_first, False)
    row = ArchiveDay.objects.get(day=day)
    assert (row.state, row.problem) == (ArchiveState.ARCHIVED, "")
    assert _stored(folder) == _names()


def _wait_for_open_delivery(day: dt.date) -> None:
    open_one = ids.delivery_id(id_of(day, 3), 1)
    with connection.cursor() as running:
        running.execute("UPDATE delivery SET due_at = now() WHERE id = %s", [open_one])
        assert not _advance(day)
        running.execute("UPDATE delivery SET due_at = NULL WHERE id = %s", [open_one])


def test_a_verified_file_that_is_deleted_while_the_day_waits_is_written_again(
    day: dt.date, folder: Path
) -> None:
    _wait_for_open_delivery(day)
    for path in folder.rglob("event-*.parquet"):
        path.unlink()
    assert _advance(day)
    assert len(_names()) == 5
    assert _stored(folder) == _names()


def test_a_verified_file_that_is_cut_short_while_the_day_waits_is_written_again(
    day: dt.date, folder: Path
) -> None:
    _wait_for_open_delivery(day)
    for path in folder.rglob("event-*.parquet"):
        path.write_bytes(path.read_bytes()[:-100])
    assert _advance(day)
    for file in ArchiveFile.objects.all():
        assert (folder / file.name).stat().st_size == file.bytes


def test_a_day_in_progress_goes_as_a_whole_to_the_new_folder(
    day: dt.date, folder: Path, tmp_path: Path, configure: Configure
) -> None:
    _wait_for_open_delivery(day)
    assert _stored(folder)
    configure(archive_url=(tmp_path / "other").as_uri())
    assert _advance(day)
    assert len(_names()) == 5
    assert _stored(tmp_path / "other") == _names()
