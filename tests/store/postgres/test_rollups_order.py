"""Answers whose transaction waits for the row count alike in pages and in a recount."""

from __future__ import annotations

import datetime as dt
import threading
from concurrent.futures import ThreadPoolExecutor
from unittest.mock import patch

import pytest
from django.db import connection, transaction
from django.db.models import F, Sum

from notifications.core.models import Attempt, Delivery, Event, Rollup, RollupLatency
from notifications.core.rules.reasons import Reason
from notifications.core.rules.rollups import Cube, DimensionSet, Step
from notifications.core.rules.transitions import DELIVER
from notifications.core.store.postgres import attempts, change_feed, db, rollups, transitions
from notifications.core.store.postgres.attempts import AttemptRow
from notifications.core.store.postgres.transitions import ANYONE, Move
from tests.interleaving import is_awaited
from tests.old_days import recount_days
from tests.store.stored_rows import MakeDelivery, make_delivery

__all__ = ["make_delivery"]

pytestmark = pytest.mark.django_db(transaction=True)
_ALL_DAYS = Cube(Step.DAY, DimensionSet.ALL).number


@pytest.fixture(autouse=True)
def _position(db: None) -> None:  # noqa: ARG001 - pytest-django asks for it by name
    """Begin to count, as the migration does."""
    rollups.count_next(limit=1)


def _counts() -> tuple[int, int]:
    """Return the delivered messages and the calls of all days."""
    sums = Rollup.objects.filter(cube=_ALL_DAYS).aggregate(Sum("delivered"), Sum("calls"))
    return sums["delivered__sum"], sums["calls__sum"]


def _rows(model: type[Rollup | RollupLatency]) -> list[tuple[object, ...]]:
    return sorted(model.objects.values_list(), key=str)


def _assert_that_a_recount_agrees() -> None:
    before = (_rows(Rollup), _rows(RollupLatency))
    recount_days()
    assert (_rows(Rollup), _rows(RollupLatency)) == before


@pytest.mark.parametrize("is_read_late", [False, True])
def test_a_receipt_before_the_answer_is_counted_alike_again(
    make_delivery: MakeDelivery, *, is_read_late: bool
) -> None:
    """The transaction of the answer begins first, and commits after that of the receipt."""
    delivery = make_delivery()
    began, go_on = threading.Event(), threading.Event()
    call = AttemptRow(delivery, 1, "accepted", "", "", latency_ms=5)

    def settle() -> None:
        with transaction.atomic():
            db.rows("feed_bounds", {"since": None})  # now() is the time of the first statement
            began.set()
            go_on.wait(30)
            attempts.record([call], provider="fcm")
            attempts.tell([call], moved=())
        connection.close()

    with ThreadPoolExecutor(1) as other:
        ending = other.submit(settle)
        assert began.wait(30)
        transitions.apply(DELIVER, [Move(id=delivery)], ANYONE)
        if is_read_late:  # the page ends before the answer, which is stored by then
            page = change_feed.bounds()
            go_on.set()
            ending.result()
            with patch.object(change_feed, "bounds", lambda: page):
                rollups.count_next(limit=100)
        else:
            rollups.count_next(limit=100)
            go_on.set()
            ending.result()
    rollups.count_next(limit=100)
    assert _counts() == (1, 1)
    _assert_that_a_recount_agrees()


def test_an_answer_that_waits_long_for_the_row_is_counted_alike_again(
    make_delivery: MakeDelivery,
) -> None:
    """A receipt holds the row; the transaction of the answer is made a minute old."""
    delivery, minute = make_delivery(), dt.timedelta(minutes=1)
    has_row, go_on = threading.Event(), threading.Event()
    call = AttemptRow(delivery, 1, "accepted", "", "", latency_ms=5)

    def settle() -> None:
        with transaction.atomic():
            Delivery.objects.select_for_update().get(id=delivery)
            has_row.set()
            go_on.wait(30)
            attempts.record([call], provider="fcm")
            attempts.tell([call], moved=())
            Attempt.objects.update(started_at=F("started_at") - minute)
            Event.objects.filter(reason=Reason.CALL_ENDED).update(at=F("at") - minute)
        connection.close()

    with ThreadPoolExecutor(1) as other:
        with transaction.atomic():
            transitions.apply(DELIVER, [Move(id=delivery)], ANYONE)
            ending = other.submit(settle)
            while not is_awaited():
                assert not has_row.wait(0.01)
        assert has_row.wait(30)
        assert rollups.count_next(limit=100).events == 2
        go_on.set()
        ending.result()
    rollups.count_next(limit=100)
    assert _counts() == (1, 1)
    _assert_that_a_recount_agrees()
