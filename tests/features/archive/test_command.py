"""`manage.py archive` archives days, lists and verifies them, and finds messages."""

from __future__ import annotations

import datetime as dt
import io
import json
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import pyarrow.parquet as pq
import pytest
from django.core.management import CommandError, call_command
from django.db import connection
from django.db.models import F

from notifications.core import clock, conf
from notifications.core.models import (
    ArchiveDay,
    ArchiveFile,
    ArchiveState,
    AuditEntry,
    Event,
    Producer,
    Recipient,
)
from notifications.core.store.postgres import partitions
from notifications.features.archive import columns
from notifications.features.archive.export import sha256_of
from tests.old_days import drop_day
from tests.past_rows import fill, id_of

pytestmark = pytest.mark.django_db(transaction=True)


@pytest.fixture
def day(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> Iterator[dt.date]:
    """A day past retention, and an archive in a folder."""
    configured = replace(conf.current(), archive_url=tmp_path.as_uri())
    monkeypatch.setattr(conf, "current", lambda: configured)
    made = clock.now().date() - conf.current().retention - dt.timedelta(days=2)
    fill(made, notifications=40, people=8)
    Recipient.objects.create(pk=1003, mode=1, user_id="user-3")
    Producer.objects.create(pk=1, name="orders")
    yield made
    drop_day(made)
    ArchiveDay.objects.all().delete()


def _archive(*words: str) -> str:
    output = io.StringIO()
    call_command("archive", *words, stdout=output, stderr=output)
    return output.getvalue()


def test_a_day_is_archived_listed_verified_and_searched(day: dt.date) -> None:
    assert _archive("run") == "1 days archived or expired, 0 failed\n"
    assert f"{day}  archived " in _archive("list")
    assert _archive("verify", f"--day={day}").count("are intact") == 5
    own = str(id_of(day, 8))
    (line,) = _archive("find", f"--notification={own}").splitlines()
    assert json.loads(line)["id"] == own
    (line,) = _archive("find", "--key=order-8", "--producer=orders").splitlines()
    assert json.loads(line)["id"] == own
    assert len(_archive("find", "--user=user-3").splitlines()) == 5
    assert AuditEntry.objects.filter(operation="find", object_type="archive").count() == 3


def test_a_search_without_a_result_fails(day: dt.date) -> None:
    _archive("run")
    with pytest.raises(CommandError, match="Nothing found"):
        _archive("find", "--user=unknown", f"--since={day}")


def test_verify_names_the_damaged_file(day: dt.date, tmp_path: Path) -> None:
    _archive("run")
    (path,) = tmp_path.rglob("event-*.parquet")
    path.write_bytes(path.read_bytes()[:-1])
    output = io.StringIO()
    with pytest.raises(CommandError, match="1 files are damaged"):
        call_command("archive", "verify", stdout=io.StringIO(), stderr=output)
    assert f"{day}/event-" in output.getvalue()


def test_verify_refuses_a_day_that_has_no_files(day: dt.date) -> None:
    assert _archive("verify") == "No day is archived: there is no file to verify.\n"
    other = day - dt.timedelta(days=30)
    with pytest.raises(CommandError, match=f"The archive has no day {other}; .* archive list"):
        _archive("verify", f"--day={other}")
    _archive("run")
    ArchiveDay.objects.update(state=ArchiveState.EXPIRED)
    with pytest.raises(CommandError, match=r"state is expired: deleted from the archive\.$"):
        _archive("verify", f"--day={day}")


def test_run_fails_when_the_archive_is_away(
    day: dt.date, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    (tmp_path / "file").touch()
    away = replace(conf.current(), archive_url=(tmp_path / "file" / "below").as_uri())
    with monkeypatch.context() as patched:
        patched.setattr(conf, "current", lambda: away)
        with pytest.raises(CommandError, match="not archived"):
            _archive("run")
    assert "NotADirectoryError" in _archive("list")
    assert str(day) in _archive("list")


def test_a_claim_is_a_line_of_the_archived_timeline(day: dt.date) -> None:
    own = id_of(day, 8)
    Event.objects.filter(notification_id=own, status=2).update(
        claimed_at=F("at") + dt.timedelta(milliseconds=1)
    )
    _archive("run")
    (line,) = _archive("find", f"--notification={own}").splitlines()
    told = [(each["status"], each["detail"]) for each in json.loads(line)["events"]]
    assert [status for status, _ in told] == [1, 3, 2, 3, 4]
    assert told[1] == (3, "")


def test_files_of_the_release_before_are_intact(day: dt.date, tmp_path: Path) -> None:
    _archive("run")
    for table, added in columns.ADDED.items():
        (path,) = tmp_path.rglob(f"{table}-*.parquet")
        former = pq.read_table(path).drop_columns(sorted(added))
        pq.write_table(former, path, write_page_checksum=True)
        file = ArchiveFile.objects.get(table=table)
        file.checksums = {name: crc for name, crc in file.checksums.items() if name not in added}
        file.sha256 = sha256_of(path)
        file.save()
    assert _archive("verify", f"--day={day}").count("are intact") == 5
    (line,) = _archive("find", f"--notification={id_of(day, 8)}").splitlines()
    assert [each["status"] for each in json.loads(line)["events"]] == [1, 2, 3, 4]


def test_a_day_frozen_by_the_release_before_is_archived(day: dt.date) -> None:
    """A migration gives new columns to attached partitions alone."""
    assert partitions.freeze(day)
    with connection.cursor() as running:
        for table, added in columns.ADDED.items():
            for name in added:
                running.execute(f"ALTER TABLE {table}_{day:%Y%m%d} DROP COLUMN {name}")
    assert _archive("run") == "1 days archived or expired, 0 failed\n"
    (line,) = _archive("find", f"--notification={id_of(day, 8)}").splitlines()
    told = json.loads(line)
    assert told["template_variant"] == ""
    assert [each["status"] for each in told["events"]] == [1, 2, 3, 4]
