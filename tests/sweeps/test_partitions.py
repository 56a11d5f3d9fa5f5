"""Days past retention go, whoever reads them, and nothing open goes with them unseen."""

from __future__ import annotations

import datetime as dt
from collections.abc import Iterator
from typing import Any

import psycopg
import pytest
from django.db import connection

from notifications import clock, conf
from notifications.models import DeadLetter, Delivery, Event
from notifications.rules import ids
from notifications.rules.states import Status
from notifications.store.postgres import partitions
from notifications.sweeps import SWEEPS
from notifications.sweeps.rounds import Swept

pytestmark = pytest.mark.django_db(transaction=True)
_DAY = dt.timedelta(days=1)


@pytest.fixture
def days() -> Iterator[list[dt.date]]:
    """Two days past retention, each with a notification, a delivery that is open, and its event."""
    oldest = clock.now().date() - (conf.current().retention + 3 * _DAY)
    made = [oldest, oldest + _DAY]
    for day in made:
        partitions.ensure(day, days=0)
        _fill(day)
    yield made
    for day in made:
        partitions.drop(day)


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
    return SWEEPS["partitions"].run_once(now=clock.now(), limit=500)


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
