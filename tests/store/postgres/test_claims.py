"""A row that another transaction holds does not hold up its neighbours."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from uuid import UUID

import psycopg
import pytest
from django.db import connection

from notifications.core import clock
from notifications.core.rules.lane import Priority
from notifications.core.store.postgres import claims
from tests.store.stored_rows import MakeDelivery

pytestmark = pytest.mark.django_db(transaction=True)


@contextmanager
def _locked(delivery_id: UUID) -> Iterator[None]:
    """Hold a row in another session, and shorten the wait for locks in this session."""
    with connection.cursor() as running:
        running.execute("SET lock_timeout = '50ms'")
    try:
        with psycopg.connect(**connection.get_connection_params(), autocommit=False) as session:
            session.execute("SELECT FROM delivery WHERE id = %s FOR UPDATE", [delivery_id])
            yield
    finally:
        connection.close()  # the next session has the usual wait


@pytest.mark.parametrize("priority", Priority, ids=lambda each: each.name)
def test_a_claim_takes_the_neighbours_of_a_locked_row_and_names_the_row(
    make_delivery: MakeDelivery, priority: Priority
) -> None:
    rows = [make_delivery(priority=priority) for _ in range(5)]
    with _locked(rows[2]):
        claim = claims.claim(rows, now=clock.now())
    assert {each.id for each in claim.deliveries} == set(rows) - {rows[2]}
    assert claim.locked == [rows[2]]
    again = claims.claim(rows, now=clock.now())
    assert ([each.id for each in again.deliveries], again.locked) == ([rows[2]], ())


def test_a_renewal_leaves_out_a_locked_row_alone(make_delivery: MakeDelivery) -> None:
    rows = [make_delivery() for _ in range(3)]
    claim = claims.claim(rows, now=clock.now())
    with _locked(rows[0]):
        calls = claims.renew(rows, token=claim.token, provider="sandbox")
    assert calls == [None, 1, 1]
