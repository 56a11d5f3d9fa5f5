"""The deliveries of a bulk job are counted once for their job and variant."""

from __future__ import annotations

import datetime as dt
from collections import Counter
from uuid import UUID

import pytest
from django.db import transaction

from notifications.core import clock
from notifications.core.feedback import client_receipts
from notifications.core.models import (
    BulkJob,
    BulkJobRange,
    BulkJobSample,
    Delivery,
    Notification,
    Producer,
)
from notifications.core.rules import ids
from notifications.core.rules.bulk_job import BulkJobState, Total
from notifications.core.rules.states import Status
from notifications.core.rules.transitions import (
    ACCEPT,
    BOUNCE,
    CLAIM,
    DELIVER,
    EXPIRE,
    READ,
    REJECT,
    RETRY,
)
from notifications.core.store.postgres import bulk_job_expansions, rollups, transitions
from notifications.core.store.postgres.transitions import ANYONE, Move
from notifications.features.bulk_jobs import figure_rows
from notifications.features.bulk_jobs.rules.figures import VariantFigures
from tests.old_days import recount_days
from tests.store.stored_rows import MakeDelivery, make_delivery

__all__ = ["make_delivery"]

pytestmark = pytest.mark.django_db(transaction=True)


@pytest.fixture(autouse=True)
def _position(db: None) -> None:  # noqa: ARG001 - pytest-django asks for it by name
    """Begin to count, as the migration does."""
    rollups.count_next(limit=1)


@pytest.fixture
def job() -> BulkJob:
    """A running job."""
    now = clock.now()
    return BulkJob.objects.create(
        producer=Producer.objects.create(name="shop"),
        name="sale",
        state=BulkJobState.RUNNING,
        audience={"everyone": True},
        type="PROMO",
        template_id="sale",
        template=1,
        spread="first",
        starts_at=now,
        created_at=now,
        created_by="nk_live_1",
    )


def _of(job: BulkJob, delivery_id: UUID, variant: str = "") -> UUID:
    found = Notification.objects.filter(id=ids.notification_of(delivery_id))
    found.update(bulk_job_id=job.pk, variant=variant)
    return delivery_id


def _counts(job: BulkJob, variant: str = "") -> VariantFigures:
    return figure_rows.counts([job.pk])[job.pk][variant]


def _count_all() -> None:
    while rollups.count_next(limit=100).more:
        pass


def test_totals_keep_what_a_delivery_has_been_and_statuses_tell_what_it_is(
    job: BulkJob, make_delivery: MakeDelivery
) -> None:
    read, bounced, waiting = (_of(job, make_delivery()) for _ in range(3))
    make_delivery()  # of no job
    _count_all()
    assert _counts(job).statuses == {"queued": 3}
    transitions.apply(DELIVER, [Move(id=read)], ANYONE)
    _count_all()
    transitions.apply(READ, [Move(id=read, reason="client_opened")], ANYONE)
    transitions.apply(CLAIM, [Move(id=bounced)], ANYONE)
    transitions.apply(ACCEPT, [Move(id=bounced)], ANYONE)
    transitions.apply(BOUNCE, [Move(id=bounced, reason="receipt_bounced")], ANYONE)
    _count_all()
    found = _counts(job)
    assert found.statuses == {"read": 1, "bounced": 1, "queued": 1}
    assert {name: found.total(name) for name in Total} == {
        Total.ACCEPTED: 3,
        Total.SENT: 2,
        Total.DELIVERED: 1,
        Total.READ: 1,
        Total.CLICKED: 0,
        Total.FAILED: 0,
        Total.BOUNCED: 1,
        Total.COMPLAINED: 0,
        Total.COST_MICROS: 0,
    }
    assert waiting is not None


def test_variants_are_counted_apart(job: BulkJob, make_delivery: MakeDelivery) -> None:
    for variant in ("a", "a", "b"):
        transitions.apply(DELIVER, [Move(id=_of(job, make_delivery(), variant))], ANYONE)
    _count_all()
    assert _counts(job, "a").total(Total.DELIVERED) == 2
    assert _counts(job, "b").total(Total.DELIVERED) == 1


def test_a_page_that_was_not_committed_counts_nothing(
    job: BulkJob, make_delivery: MakeDelivery
) -> None:
    _of(job, make_delivery())

    @transaction.atomic
    def count_and_die() -> None:
        rollups.count_next(limit=100)
        raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        count_and_die()
    assert not figure_rows.counts([job.pk])
    _count_all()
    assert _counts(job).statuses == {"queued": 1}


def test_a_recount_of_a_day_leaves_the_counts_of_jobs(
    job: BulkJob, make_delivery: MakeDelivery
) -> None:
    transitions.apply(DELIVER, [Move(id=_of(job, make_delivery()))], ANYONE)
    _count_all()
    before = _counts(job)
    recount_days()
    assert _counts(job) == before


def test_statuses_agree_with_the_deliveries_after_any_moves_and_pages(
    job: BulkJob, make_delivery: MakeDelivery
) -> None:
    deliveries = [_of(job, make_delivery()) for _ in range(30)]
    moves = (CLAIM, ACCEPT, RETRY, DELIVER, READ, BOUNCE, EXPIRE, REJECT)
    for step in range(40):
        chosen = sorted(deliveries[(step * 7 + each * 11) % 30] for each in range(8))
        move = moves[step * 5 % 8]
        transitions.apply(move, [Move(id=each, reason=move.name) for each in chosen], ANYONE)
        if step % 2:
            rollups.count_next(limit=1 + step * 13 % 30)
    _count_all()
    states = Delivery.objects.filter(id__in=deliveries).values_list("status", flat=True)
    stored = Counter(Status(each).label for each in states)
    counted = _counts(job).statuses
    assert sum(counted.values()) == len(deliveries)
    uncounted = {"queued", "sending", "retrying"}  # a claim and a requeue are not counted
    assert {name: count for name, count in counted.items() if name not in uncounted} == {
        name: count for name, count in stored.items() if name not in uncounted
    }


def test_ranges_together_are_the_progress(job: BulkJob) -> None:
    for number, (cursor, finished) in enumerate([(500, None), (1500, clock.now())]):
        BulkJobRange.objects.create(
            job=job,
            number=number,
            first=1000 * number,
            cursor=cursor,
            until=1000 * (number + 1),
            examined=400,
            accepted=300,
            left_out={"no_contact": 60, "opted_out": 40} if number else {"no_contact": 100},
            finished_at=finished,
        )
    found = bulk_job_expansions.expansions([job.pk])[job.pk]
    assert (found.examined, found.accepted, found.ids, found.ids_done) == (800, 600, 2000, 1500)
    assert found.left_out == {"no_contact": 160, "opted_out": 40}


def test_a_sample_of_a_running_job_is_the_mark_of_its_rate(job: BulkJob) -> None:
    now = clock.now()
    BulkJobRange.objects.create(
        job=job, number=0, first=0, cursor=10, until=100, examined=10, accepted=8
    )
    assert figure_rows.sample(now=now) == 1
    assert figure_rows.sample(now=now + dt.timedelta(seconds=1)) == 0
    assert figure_rows.sample(now=now + dt.timedelta(seconds=5)) == 1
    mark = figure_rows.marks([job.pk], now=now + dt.timedelta(seconds=30))[job.pk]
    assert (mark.at, mark.examined, mark.accepted) == (now, 10, 8)
    assert not figure_rows.marks([job.pk], now=now + dt.timedelta(minutes=3))
    BulkJob.objects.update(state=BulkJobState.PAUSED)
    assert figure_rows.sample(now=now + dt.timedelta(hours=2)) == 0
    assert not BulkJobSample.objects.exists()


def test_a_click_after_an_opening_counts_once_and_no_second_read(
    job: BulkJob, make_delivery: MakeDelivery
) -> None:
    read = _of(job, make_delivery(Status.SENT))
    transitions.apply(READ, [Move(id=read, reason="client_opened")], ANYONE)
    _count_all()
    for _ in range(2):
        client_receipts.record_clicks({read: None})
        _count_all()
    counts = _counts(job)
    assert (counts.total(Total.READ), counts.total(Total.CLICKED)) == (1, 1)
    assert counts.statuses == {"read": 1}
