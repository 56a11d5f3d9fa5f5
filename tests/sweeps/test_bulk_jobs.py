"""The sweep of bulk jobs: abort limits, test groups, and winners of A/B tests."""

from __future__ import annotations

import datetime as dt
import threading

import pytest
from django.db import connection

from notifications import clock
from notifications.models import (
    Alert,
    BulkJob,
    BulkJobFigure,
    BulkJobPace,
    BulkJobRange,
    Notification,
)
from notifications.rules.alerts import AlertKind
from notifications.rules.bulk_jobs import variants
from notifications.rules.bulk_jobs.states import BulkJobState
from notifications.sweeps import bulk_jobs
from tests.bulk_jobs.conftest import NewJob, expand_all, new_job
from tests.journey import Reach, caller, outbox, reach, sandbox, scripted, take

__all__ = ["caller", "new_job", "outbox", "reach", "sandbox", "scripted", "take"]

_MINUTE = dt.timedelta(minutes=1)
_VARIANTS = [
    {"name": "plain", "percent": 50},
    {"name": "bold", "percent": 50},
]
_WINNER = {"metric": "clicked", "sample_percent": 30, "after_seconds": 60}


def _figures(job: BulkJob, variant: str = "", **totals: int) -> None:
    BulkJobFigure.objects.bulk_create([
        BulkJobFigure(job=job, variant=variant, kind="total", name=name, count=count)
        for name, count in totals.items()
    ])


def _sweep(*, after: dt.timedelta = dt.timedelta(0)) -> int:
    return bulk_jobs.run_once(now=clock.now() + after, limit=100).moved


@pytest.mark.django_db
def test_a_job_over_its_limit_is_aborted_once_with_an_alert(new_job: NewJob) -> None:
    job = new_job(abort_limits={"bounced": 0.05, "minimum": 50})
    fine = new_job(abort_limits={"bounced": 0.05, "minimum": 50})
    _figures(job, sent=100, bounced=6)
    _figures(fine, sent=100, bounced=5)
    assert _sweep() == 1
    assert _sweep() == 0
    job.refresh_from_db()
    fine.refresh_from_db()
    assert (job.state, fine.state) == (BulkJobState.ABORTED, BulkJobState.RUNNING)
    assert job.state_reason == "6.0% of 100 messages bounced, more than the limit of 5.0%."
    [alert] = Alert.objects.filter(kind=AlertKind.BULK_JOB_ABORTED)
    assert (alert.subject, job.state_reason in alert.detail) == (str(job.pk), True)


@pytest.mark.django_db
def test_a_job_whose_messages_all_fail_is_aborted(new_job: NewJob) -> None:
    job = new_job(abort_limits={"failed": 0.5})
    _figures(job, failed=100)
    _sweep()
    job.refresh_from_db()
    assert job.state == BulkJobState.ABORTED


@pytest.mark.django_db
def test_a_finished_job_with_waiting_deliveries_is_aborted(new_job: NewJob, reach: Reach) -> None:
    reach("u1", email="u1@sandbox.example")
    job = new_job(abort_limits={"complained": 0.01})
    expand_all(job)
    assert job.state == BulkJobState.FINISHED
    _figures(job, sent=100, complained=2)
    assert _sweep() == 1
    job.refresh_from_db()
    assert job.state == BulkJobState.ABORTED


@pytest.mark.django_db
def test_the_others_follow_the_test_group_after_the_wait(new_job: NewJob, reach: Reach) -> None:
    for n in range(9):
        reach(f"u{n}", email=f"u{n}@sandbox.example")
    job = new_job(test_group={"size": 4, "wait_seconds": 300})
    assert _sweep() == 0
    expand_all(job)
    assert Notification.objects.filter(bulk_job_id=job.pk).count() == 4
    assert job.state == BulkJobState.RUNNING
    assert _sweep() == 1
    ends_at = BulkJobPace.objects.get(job=job).test_group_ends_at
    assert _sweep(after=_MINUTE) == 0  # a second run moves nothing
    assert BulkJobPace.objects.get(job=job).test_group_ends_at == ends_at
    expand_all(job)
    assert job.state_reason.startswith("The test group is complete. The others follow at")
    assert Notification.objects.filter(bulk_job_id=job.pk).count() == 4
    BulkJobPace.objects.filter(job=job).update(test_group_ends_at=clock.now())
    expand_all(job)
    assert Notification.objects.filter(bulk_job_id=job.pk).count() == 9
    assert job.state == BulkJobState.FINISHED


@pytest.mark.django_db
def test_the_winner_of_the_sample_goes_to_all_others(new_job: NewJob, reach: Reach) -> None:
    people = [reach(f"u{n}", email=f"u{n}@sandbox.example") for n in range(60)]
    job = new_job(variants=_VARIANTS, winner=_WINNER, holdout_percent=10)
    expand_all(job)
    sample = {each.pk for each in people if variants.is_in_sample(job, each.pk)}
    holdout = {each.pk for each in people if variants.choose(job, each.pk) is None}
    sent = Notification.objects.filter(bulk_job_id=job.pk)
    assert {row.recipient_id for row in sent} == sample - holdout
    assert job.state == BulkJobState.RUNNING
    _figures(job, "plain", sent=100, clicked=5)
    _figures(job, "bold", sent=100, clicked=9)
    assert _sweep() == 0  # the wait begins
    assert BulkJob.objects.get(pk=job.pk).winner == ""
    assert _sweep(after=2 * _MINUTE) == 1
    assert _sweep(after=2 * _MINUTE) == 0
    expand_all(job)
    assert (job.winner, job.state) == ("bold", BulkJobState.FINISHED)
    by_recipient = {row.recipient_id: row.variant for row in sent.all()}
    assert by_recipient.keys() == {each.pk for each in people} - holdout
    assert sent.all().count() == len(by_recipient)
    assert {by_recipient[n] for n in by_recipient.keys() - sample} == {"bold"}
    parts = BulkJobRange.objects.filter(job=job)
    assert sum(each.examined for each in parts) == len(people)
    assert sum(each.left_out.get("holdout", 0) for each in parts) == len(holdout)


@pytest.mark.django_db(transaction=True)
def test_two_sweeps_at_once_choose_a_single_winner(new_job: NewJob) -> None:
    job = new_job(variants=_VARIANTS, winner=_WINNER)
    BulkJobRange.objects.filter(job=job).update(finished_at=clock.now())
    BulkJobRange.objects.create(
        job=job, number=9, first=0, cursor=9, until=9, sample=True, finished_at=clock.now()
    )
    _sweep()
    together = threading.Barrier(2)
    moved: list[int] = []

    def sweep() -> None:
        try:
            together.wait(30)
            moved.append(_sweep(after=2 * _MINUTE))
        finally:
            connection.close()

    threads = [threading.Thread(target=sweep) for _ in range(2)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(60)
    assert sorted(moved) == [0, 1]
    found = BulkJob.objects.get(pk=job.pk)
    assert found.winner == "plain"
    assert "each variant needs 30 sent messages" in found.state_reason
