"""Rows past their age are deleted, the oldest first; rows in use stay for the next run."""

from __future__ import annotations

import datetime as dt

import psycopg
import pytest
from django.db import connection

from notifications.core import clock, feature
from notifications.core.models import ReceivedText
from notifications.core.rules.row_retention import RowRetention
from notifications.core.store.postgres import row_retention

EVERY = [
    *row_retention.RETENTIONS,
    *(kept for each in feature.all_features() for kept in each.retentions),
]
_KEPT = RowRetention("received_text", "received_at", dt.timedelta(days=30))


def _age(**days: int) -> None:
    for name, number in days.items():
        ReceivedText.objects.create(provider="twilio", message_id=name)
        past = clock.now() - dt.timedelta(days=number)
        ReceivedText.objects.filter(message_id=name).update(received_at=past)


def _left() -> set[str]:
    return set(ReceivedText.objects.values_list("message_id", flat=True))


@pytest.mark.django_db
@pytest.mark.parametrize("kept", EVERY, ids=lambda each: each.table)
def test_each_table_can_lose_its_old_rows(kept: RowRetention) -> None:
    assert row_retention.delete(kept, now=clock.now(), limit=10) == 0
    with connection.cursor() as running:
        running.execute(
            "SELECT conrelid::regclass::text FROM pg_constraint WHERE contype = 'f'"
            " AND confrelid = %s::regclass AND confdeltype NOT IN ('c', 'n')",
            [kept.table],
        )
        assert running.fetchall() == [], "these rows would refuse the deletion"


@pytest.mark.django_db
def test_the_oldest_rows_go_first() -> None:
    _age(young=29, old=31, oldest=40)
    assert row_retention.delete(_KEPT, now=clock.now(), limit=1) == 1
    assert _left() == {"young", "old"}
    assert row_retention.delete(_KEPT, now=clock.now(), limit=5) == 1
    assert _left() == {"young"}


@pytest.mark.django_db(transaction=True)
def test_a_row_in_use_stays_for_the_next_run() -> None:
    _age(free=31, used=32)
    with psycopg.connect(**connection.get_connection_params()) as link:
        link.execute("SELECT FROM received_text WHERE message_id = 'used' FOR UPDATE")
        assert row_retention.delete(_KEPT, now=clock.now(), limit=5) == 1
    assert _left() == {"used"}
    assert row_retention.delete(_KEPT, now=clock.now(), limit=5) == 1
