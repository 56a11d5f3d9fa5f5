"""Days past retention go to the archive, whoever reads them, and no open delivery is lost."""

from __future__ import annotations

import datetime as dt
import tempfile
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import psycopg
import pytest
from django.db import connection

from notifications.core import clock, conf
from notifications.core.models import Alert, ArchiveDay, DeadLetter, Delivery, Event
from notifications.core.rules import ids
from notifications.core.rules.states import Status
from notifications.core.store.postgres import partitions, past_days
from notifications.core.sweeps import SWEEPS
from notifications.core.sweeps.rounds import Swept
from tests.old_days import drop_day
from tests.small_disk import fill, make_room, mounted, needs_root

pytestmark = pytest.mark.django_db(transaction=True)
_DAY = dt.timedelta(days=1)


@pytest.fixture(autouse=True)
def _folder(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    configured = replace(conf.current(), archive_url=tmp_path.as_uri())
    monkeypatch.setattr(conf, "current", lambda: configured)


@pytest.fixture
def days() -> Iterator[list[dt.date]]:
    """Two days far past retention: a notification, an open delivery and an event each."""
    oldest = clock.now().date() - (conf.current().retention + past_days.WAITS + 3 * _DAY)
    made = [oldest, oldest + _DAY]
    for day in made:
        partitions.ensure(day, days=0)
        _fill(day)
    yield made
    for day in made:
        drop_day(day)


def _fill(day: dt.date) -> None:
    floor = ids.floor_of(day)
    with connection.cursor() as cursor:
        cursor.execute(
            "INSERT INTO notification (id, producer_id, mode, priority, type, recipient_id,"
            " user_id, spread, expires_at, created_at)"
            " VALUES (%s, 1, 1, 2, 'T', 1, 'ana', 'first', now(), now())",
            [floor],
        )
        cursor.execute(
            "INSERT INTO delivery (id, mode, priority, channel, status, recipient_id, due_at)"
            " VALUES (%s, 1, 2, 3, %s, 1, now())",
            [ids.delivery_id(floor, 1), Status.QUEUED],
        )
        cursor.execute("INSERT INTO event (notification_id, at) VALUES (%s, now())", [floor])


def _sweep() -> Swept:
    return SWEEPS["archive"].run_once(now=clock.now(), limit=500)


def _tables(day: dt.date) -> list[str]:
    with connection.cursor() as cursor:
        cursor.execute(
            "SELECT relname FROM pg_class WHERE relkind = 'r' AND relname LIKE %s ORDER BY 1",
            [f"%\\_{day:%Y%m%d}"],
        )
        return [name for (name,) in cursor.fetchall()]


def test_days_past_retention_are_dropped_and_what_was_open_leaves_a_dead_letter(
    days: list[dt.date],
) -> None:
    open_ones = [ids.delivery_id(ids.floor_of(day), 1) for day in days]
    _sweep()
    assert [_tables(day) for day in days] == [[], []]
    assert partitions.past() == []
    letters = DeadLetter.objects.order_by("delivery_id")
    assert [(each.delivery_id, each.reason) for each in letters] == [
        (each, "retention") for each in open_ones
    ]
    assert letters[0].snapshot["user_id"] == "ana"


@pytest.mark.parametrize("table", ["event", "attempt", "delivery", "notification"])
def test_a_reader_delays_the_drop_and_the_next_run_heals_it(
    table: str, days: list[dt.date]
) -> None:
    with psycopg.connect(**_link(), autocommit=False) as reader:
        reader.execute(f"SELECT count(*) FROM {table}")  # noqa: S608 - a name of the list above
        assert _sweep().failed == len(days)
        assert partitions.past() == days
    assert _sweep() == Swept(moved=len(days))
    assert [_tables(day) for day in days] == [[], []]


def test_a_table_that_a_crash_left_detached_is_dropped(days: list[dt.date]) -> None:
    first = days[0]
    with connection.cursor() as cursor:
        for name in (f"event_{first:%Y%m%d}", f"delivery_{first:%Y%m%d}"):
            table = name.partition("_")[0]
            cursor.execute(f"ALTER TABLE {table} DETACH PARTITION {name}")
    assert partitions.past() == days
    assert _sweep().failed == 0
    assert _tables(first) == []


def test_recent_days_stay(days: list[dt.date]) -> None:
    assert len(days) == 2
    today = clock.now().date()
    _sweep()
    assert _tables(today) == sorted(f"{table}_{today:%Y%m%d}" for table in partitions.TABLES)
    assert Delivery.objects.count() == Event.objects.count() == 0


def _link() -> dict[str, Any]:
    wanted = ("host", "port", "dbname", "user", "password")
    given = connection.get_connection_params()
    return {name: given[name] for name in wanted if name in given}


def test_the_alert_lasts_until_the_late_days_are_archived(
    days: list[dt.date], monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    (tmp_path / "file").touch()
    away = replace(conf.current(), archive_url=(tmp_path / "file" / "below").as_uri())
    with monkeypatch.context() as patched:
        patched.setattr(conf, "current", lambda: away)
        assert _sweep().failed == len(days)
    alert = Alert.objects.get(kind="archive_late", resolved_at=None)
    assert "2 days wait" in alert.detail
    assert "NotADirectoryError" in alert.detail
    assert ArchiveDay.objects.get(day=days[0]).problem
    assert partitions.past() == days
    assert _sweep().failed == 0
    assert not Alert.objects.filter(kind="archive_late", resolved_at=None).exists()
    assert partitions.past() == []


def test_a_day_waits_a_week_for_an_open_delivery(days: list[dt.date]) -> None:
    monday = days[1] + 5 * _DAY
    partitions.ensure(monday, days=0)
    _fill(monday)
    try:
        _sweep()
        assert partitions.past() == [monday]
        assert Delivery.objects.get().status == Status.QUEUED
        assert ArchiveDay.objects.get(day=monday).state == "waiting"
    finally:
        drop_day(monday)


def test_a_lease_outlasts_several_runs() -> None:
    """Otherwise an export longer than the lease is begun again and again, and never ends."""
    assert 5 * SWEEPS["archive"].every <= past_days.LEASE


@needs_root
@pytest.mark.parametrize("full", ["archive", "export"])
def test_a_full_disk_raises_the_alert_keeps_the_days_and_is_made_good(
    days: list[dt.date], tmp_path: Path, monkeypatch: pytest.MonkeyPatch, full: str
) -> None:
    disk = tmp_path / "disk"
    disk.mkdir()
    url = (disk if full == "archive" else tmp_path / "archive").as_uri()
    configured = replace(conf.current(), archive_url=url)
    monkeypatch.setattr(conf, "current", lambda: configured)
    if full == "export":
        monkeypatch.setattr(tempfile, "tempdir", str(disk))
    with mounted(disk, mebibytes=1):
        fill(disk)
        _sweep()
        [alert] = Alert.objects.filter(kind="archive_late", resolved_at=None)
        assert "No space left on device" in alert.detail
        assert all(_tables(day) for day in days)
        make_room(disk)
        assert _sweep().failed == 0
        assert not any(_tables(day) for day in days)
        assert not Alert.objects.filter(kind="archive_late", resolved_at=None)
