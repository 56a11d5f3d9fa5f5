"""Two processes that record the same call at the same moment leave one attempt."""

from __future__ import annotations

from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from functools import partial
from uuid import UUID

import psycopg
import pytest
from django.db import connection, connections, transaction

from notifications.core.models import Attempt
from notifications.core.store.postgres import attempts, db
from notifications.core.store.postgres.attempts import AttemptRow
from notifyproj.devstack.demo.environment import until
from tests.store.stored_rows import MakeDelivery

pytestmark = pytest.mark.django_db(transaction=True)


def _row(delivery_id: UUID, number: int = 1) -> AttemptRow:
    return AttemptRow(delivery_id, number, "accepted", "", "", latency_ms=5)


def _waits_for_a_lock() -> bool:
    with connection.cursor() as running:
        running.execute("SELECT count(*) FROM pg_stat_activity WHERE wait_event_type = 'Lock'")
        return bool(running.fetchone() != (0,))


def _settle(rows: list[AttemptRow]) -> None:
    db.in_transaction(partial(attempts.record, rows, provider="late"))


def _rescue(rows: list[AttemptRow]) -> None:
    with transaction.atomic():
        attempts.record_in_sweep(rows, provider="late")


@pytest.mark.parametrize("record", [_settle, _rescue])
def test_the_first_attempt_stays_and_the_others_are_stored(
    make_delivery: MakeDelivery, record: Callable[[list[AttemptRow]], None]
) -> None:
    taken, free = make_delivery(), make_delivery()

    def beside() -> None:
        try:
            record([_row(taken), _row(free)])
        finally:
            connections.close_all()

    with ThreadPoolExecutor(1) as pool:
        with psycopg.connect(**connection.get_connection_params()) as session:
            session.execute(
                "INSERT INTO attempt"
                " (delivery_id, number, provider, outcome, started_at, latency_ms)"
                " VALUES (%s, 1, 'first', 'unanswered', now(), 1)",
                [taken],
            )
            running = pool.submit(beside)
            until(_waits_for_a_lock, what="the second transaction waits for the first")
        running.result(30)
    found = dict(Attempt.objects.values_list("delivery_id", "provider"))
    assert found == {taken: "first", free: "late"}


def test_of_two_results_of_a_call_the_first_is_stored(make_delivery: MakeDelivery) -> None:
    row = make_delivery()
    _settle([_row(row)._replace(outcome="unavailable"), _row(row), _row(row, 2)])
    stored = Attempt.objects.order_by("number").values_list("number", "outcome")
    assert list(stored) == [(1, "unavailable"), (2, "accepted")]
