"""Ids tell where they belong, in Python and in SQL alike."""

from __future__ import annotations

import datetime as dt
from uuid import RFC_4122, UUID

import pytest
from django.db import connection
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from notifications.core.rules import ids

_MOMENTS = st.integers(min_value=0, max_value=2**48 - 1)
_CHANCE = st.integers(min_value=0, max_value=2**ids.RANDOM_BITS - 1)
_NUMBERS = st.integers(min_value=1, max_value=ids.MAX_DELIVERIES)


@given(_MOMENTS, _CHANCE, _NUMBERS)
def test_a_delivery_names_its_notification_and_its_number(at: int, chance: int, n: int) -> None:
    notification = ids.notification_id(at_ms=at, entropy=chance)
    delivery = ids.delivery_id(notification, n)
    assert ids.delivery_text(str(notification), n) == str(delivery)
    assert ids.notification_of(delivery) == notification
    assert ids.notification_of(notification) == notification
    assert ids.number_of(delivery) == n
    assert notification < delivery <= ids.last_delivery_of(notification)
    for each in (notification, delivery):
        assert (each.version, each.variant) == (7, RFC_4122)


@given(_MOMENTS, _CHANCE, _CHANCE)
def test_no_two_notifications_share_a_range(at: int, one: int, other: int) -> None:
    first = ids.notification_id(at_ms=at, entropy=one)
    second = ids.notification_id(at_ms=at, entropy=other)
    assert (first == second) == (one == other)
    low, high = sorted((first, second))
    assert low == high or ids.last_delivery_of(low) < high


@given(st.datetimes(dt.datetime(2020, 1, 1), dt.datetime(2100, 1, 1)), _CHANCE)  # noqa: DTZ001 - hypothesis adds no zone
def test_an_id_lies_in_the_partition_of_its_day(moment: dt.datetime, chance: int) -> None:
    at = moment.replace(tzinfo=dt.UTC, microsecond=moment.microsecond // 1000 * 1000)
    born = ids.notification_id(at_ms=round(at.timestamp() * 1000), entropy=chance)
    assert ids.floor_of(at.date()) <= born < ids.floor_of(at.date() + dt.timedelta(days=1))


@pytest.mark.parametrize("number", [0, -1, ids.MAX_DELIVERIES + 1])
def test_a_number_outside_the_range_is_refused(number: int) -> None:
    with pytest.raises(ValueError, match="deliveries"):
        ids.delivery_id(ids.notification_id(at_ms=1, entropy=1), number)


@pytest.mark.django_db
@settings(max_examples=50, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(_MOMENTS, _CHANCE, _NUMBERS)
def test_sql_reads_ids_as_python_does(at: int, chance: int, n: int) -> None:
    delivery = ids.delivery_id(ids.notification_id(at_ms=at, entropy=chance), n)
    with connection.cursor() as cursor:
        cursor.execute(
            "SELECT notification_of(%s::uuid), last_delivery_of(%s::uuid)", [delivery, delivery]
        )
        found: tuple[UUID, UUID] | None = cursor.fetchone()
    assert found == (ids.notification_of(delivery), ids.last_delivery_of(delivery))


@given(st.uuids())
def test_any_id_has_a_day_and_the_day_after_it(any_id: UUID) -> None:
    day = ids.day_of(any_id)
    assert ids.floor_of(day) < ids.floor_of(day + dt.timedelta(days=1))
