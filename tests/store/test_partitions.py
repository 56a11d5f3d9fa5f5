"""Partitions are there when a row comes, whatever beat did."""

from __future__ import annotations

import datetime as dt

import pytest
from django.db import IntegrityError, connection

from notifications import clock
from notifications.rules import ids
from notifications.store import partitions

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
        partitions.drop(day)
    assert day not in partitions.existing()


def test_a_day_that_retention_dropped_is_not_made_again() -> None:
    day = clock.now().date() - (partitions.RETENTION_DAYS + 5) * _DAY

    def insert() -> None:
        with connection.cursor() as cursor:
            cursor.execute(
                "INSERT INTO event (notification_id, at) VALUES (%s, now())", [ids.floor_of(day)]
            )

    with pytest.raises(IntegrityError):
        partitions.with_day(day, insert)
    assert day not in partitions.existing()


def test_the_sweeps_lower_bound_is_the_oldest_day_with_an_open_row() -> None:
    day = clock.now().date() - 20 * _DAY
    yesterday = clock.now().date() - _DAY
    partitions.ensure(day, days=0)
    try:
        assert partitions.open_since() == ids.floor_of(yesterday)
        with connection.cursor() as cursor:
            cursor.execute(
                "INSERT INTO delivery (id, mode, priority, channel, status, recipient_id, due_at)"
                " VALUES (%s, 1, 2, 3, 2, 1, now())",
                [ids.floor_of(day)],
            )
        assert partitions.open_since() == ids.floor_of(day)
    finally:
        partitions.drop(day)
