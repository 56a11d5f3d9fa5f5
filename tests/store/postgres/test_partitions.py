"""Partitions are there when a row comes, whatever beat did."""

from __future__ import annotations

import datetime as dt

import pytest
from django.db import IntegrityError, connection

from notifications.core import clock, conf
from notifications.core.rules import ids
from notifications.core.store.postgres import id_ranges, partitions
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


def test_an_old_day_is_swept_only_while_one_of_its_rows_is_due() -> None:
    day = clock.now().date() - 20 * _DAY
    partitions.ensure(day, days=0)
    id_ranges.forget()
    try:
        recent = [
            {"floor": ids.floor_of(_today() - _DAY), "ceiling": ids.floor_of(_today() + 2 * _DAY)}
        ]
        assert id_ranges.current() == recent
        with connection.cursor() as cursor:
            cursor.execute(
                "INSERT INTO delivery (id, mode, priority, channel, status, recipient_id, due_at)"
                " VALUES (%s, 1, 2, 3, 1, 1, now() + interval '30 days')",
                [ids.floor_of(day)],
            )
            id_ranges.forget()
            assert id_ranges.current() == recent
            cursor.execute("UPDATE delivery SET due_at = now() WHERE id = %s", [ids.floor_of(day)])
        id_ranges.forget()
        old = {"floor": ids.floor_of(day), "ceiling": ids.floor_of(day + _DAY)}
        assert id_ranges.current() == [*recent, old]
    finally:
        drop_day(day)
        id_ranges.forget()


def _today() -> dt.date:
    return clock.now().date()
