"""Partitions are there when a row comes, whatever beat did."""

from __future__ import annotations

import datetime as dt
import importlib

import pytest
from django.db import IntegrityError, connection
from django.db.migrations.recorder import MigrationRecorder

from notifications.core import clock, conf, migrations
from notifications.core.rules import ids
from notifications.core.store.postgres import partitions, unapplied_migrations
from tests.old_days import drop_day

pytestmark = pytest.mark.django_db(transaction=True)
_DAY = dt.timedelta(days=1)


def test_making_them_twice_makes_them_once() -> None:
    today = clock.now().date()
    partitions.ensure(today)
    assert partitions.ensure(today) == 0
    days = partitions.existing()
    assert set(days) >= {today + ahead * _DAY for ahead in range(partitions.DAYS_AHEAD + 1)}


def test_an_insert_that_finds_none_makes_its_day_and_comes_through() -> None:
    day = clock.now().date() + 40 * _DAY
    tried = []

    def insert() -> str:
        tried.append(day)
        with connection.cursor() as cursor:
            cursor.execute(
                "INSERT INTO event (notification_id, at) VALUES (%s, now())", [ids.floor_of(day)]
            )
        return "stored"

    try:
        assert partitions.with_day(day, insert) == "stored"
        assert len(tried) == 2
        assert day in partitions.existing()
    finally:
        drop_day(day)
    assert day not in partitions.existing()


def test_a_day_that_retention_dropped_is_not_made_again() -> None:
    day = clock.now().date() - (conf.current().retention + 5 * _DAY)

    def insert() -> None:
        with connection.cursor() as cursor:
            cursor.execute(
                "INSERT INTO event (notification_id, at) VALUES (%s, now())", [ids.floor_of(day)]
            )

    with pytest.raises(IntegrityError):
        partitions.with_day(day, insert)
    assert day not in partitions.existing()


def test_a_page_of_deliveries_has_room_for_the_versions_of_a_row() -> None:
    day = clock.now().date() + 41 * _DAY
    partitions.ensure(day, days=0)
    try:
        with connection.cursor() as cursor:
            cursor.execute(
                "SELECT relname, reloptions FROM pg_class WHERE relname = ANY(%s) ORDER BY relname",
                [[f"{table}_{day:%Y%m%d}" for table in partitions.TABLES]],
            )
            options = {name.partition("_")[0]: chosen for name, chosen in cursor.fetchall()}
    finally:
        drop_day(day)
    assert "fillfactor=40" in options.pop("delivery")
    assert options == {"attempt": None, "event": None, "notification": None}


@pytest.mark.parametrize("days_ahead", [0, 1])
def test_the_migration_gives_later_days_of_an_upgraded_database_the_room(days_ahead: int) -> None:
    day = clock.now().date() + days_ahead * _DAY
    table = f"delivery_{day:%Y%m%d}"
    partitions.ensure(day, days=0)
    migration = importlib.import_module(f"{migrations.__name__}.0003_room_for_updates")
    with connection.cursor() as cursor:
        cursor.execute(f"ALTER TABLE {table} SET (fillfactor = 70)")
        try:
            for _ in range(2):  # a migration that was interrupted runs again
                cursor.execute(migration._SQL)
            cursor.execute("SELECT reloptions FROM pg_class WHERE relname = %s", [table])
            [(options,)] = cursor.fetchall()
        finally:
            cursor.execute(f"ALTER TABLE {table} SET (fillfactor = 40)")
    assert f"fillfactor={40 if days_ahead else 70}" in options


@pytest.mark.django_db
@pytest.mark.parametrize("age_of_database", [dt.timedelta(0), _DAY])
def test_the_index_that_the_release_before_reads_stays_in_its_database(
    age_of_database: dt.timedelta,
) -> None:
    migration = importlib.import_module(f"{migrations.__name__}.0017_message_id_hashes")
    first = MigrationRecorder.Migration.objects.filter(name=unapplied_migrations.FIRST)
    first.update(applied=clock.now() - age_of_database)
    with connection.cursor() as cursor:
        cursor.execute("CREATE INDEX delivery_by_provider_id ON delivery (provider_message_id)")
        for _ in range(2):  # a migration that was interrupted runs again
            migration._add_index(None, connection.schema_editor())
            migration._drop_former_of_new_database(None, connection.schema_editor())
        cursor.execute("SELECT to_regclass('delivery_by_provider_id') IS NOT NULL")
        [(stays,)] = cursor.fetchall()
    assert stays == bool(age_of_database)
