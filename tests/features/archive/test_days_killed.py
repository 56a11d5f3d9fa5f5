"""A process is killed (SIGKILL) at each step of a day; the next process finishes the day."""

from __future__ import annotations

import datetime as dt
import os
import signal
import subprocess
import sys
import tempfile
from pathlib import Path
from urllib.parse import urlsplit

import pyarrow.parquet as pq
import pytest
from django.db import connection

from notifications.core import clock
from notifications.core.models import ArchiveDay, ArchiveFile, ArchiveState
from notifications.core.store.postgres import partitions
from notifications.core.store.postgres.past_days import Lease
from notifications.features.archive import days, local_folders
from tests.features.archive.conftest import DAY

pytestmark = pytest.mark.django_db(transaction=True)
_COUNTS = {"notification": 40, "delivery": 40, "attempt": 40, "event": 160, "key": 20}
_ROOT = Path(__file__).resolve().parents[3]
_VICTIM = """
import os, signal, sys
import datetime as dt
import importlib
import django
django.setup()
from notifications.features.archive import days
from notifications.core.store.postgres import past_days
module, _, name = sys.argv[2].rpartition(".")
owner = importlib.import_module(module)
original, calls = getattr(owner, name), int(sys.argv[3])
def dies(*given, **named):
    global calls
    calls -= 1
    if calls < 0:
        os.kill(os.getpid(), signal.SIGKILL)
    return original(*given, **named)
setattr(owner, name, dies)
with past_days.Lease(dt.date.fromisoformat(sys.argv[1])) as lease:
    days.advance(lease)
"""


@pytest.fixture
def local(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The folder for temporary files."""
    path = tmp_path / "local"
    path.mkdir()
    monkeypatch.setattr(tempfile, "tempdir", str(path))
    return path


def test_a_local_folder_stays_while_its_process_uses_it(local: Path) -> None:
    with local_folders.local_folder() as folder:
        (folder / "copy").touch()
        local_folders.delete_left()
        assert (folder / "copy").exists()
    assert list(local.iterdir()) == []


@pytest.mark.parametrize(
    ("function", "calls"),
    [
        ("notifications.features.archive.export.write", 0),
        ("notifications.features.archive.export.write", 2),
        ("notifications.features.archive.export.sha256_of", 3),
        *(("notifications.features.archive.days._store", calls) for calls in range(1, 5)),
        ("notifications.features.archive.verify.sha256_of", 2),
        ("notifications.core.store.postgres.partitions.freeze", 0),
        ("notifications.core.store.postgres.partitions._call", 2),
        ("notifications.core.store.postgres.partitions.drop_frozen", 0),
        ("notifications.core.store.postgres.partitions._call", 6),
        ("notifications.features.archive.days._delete_leftovers", 1),
    ],
)
def test_the_next_process_finishes_the_day(
    day: dt.date, folder: Path, local: Path, function: str, calls: int
) -> None:
    url = urlsplit(os.environ["DATABASE_URL"])._replace(path=f"/{connection.settings_dict['NAME']}")
    ended = subprocess.run(
        [sys.executable, "-c", _VICTIM, day.isoformat(), function, str(calls)],
        cwd=_ROOT,
        env={
            **os.environ,
            "DATABASE_URL": url.geturl(),
            "NOTIFY_ARCHIVE_URL": folder.as_uri(),
            "TMPDIR": str(local),
        },
        check=False,
        capture_output=True,
    )
    assert ended.returncode == -signal.SIGKILL, ended.stderr.decode()
    with Lease(day) as early:
        assert not early.is_held
    ArchiveDay.objects.update(leased_until=clock.now() - DAY)
    with Lease(day) as lease:
        assert days.advance(lease)
    assert list(local.glob("*/files")) == []
    assert partitions.present(day) == []
    files = {file.table: file for file in ArchiveFile.objects.all()}
    assert {name: file.rows for name, file in files.items()} == _COUNTS
    stored = {path.relative_to(folder).as_posix() for path in folder.rglob("*.*")}
    assert stored == {file.name for file in files.values()}
    assert pq.read_metadata(folder / files["event"].name).num_rows == 160
    assert ArchiveDay.objects.get().state == ArchiveState.ARCHIVED
