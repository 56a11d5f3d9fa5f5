"""Pause, resume and cancel act on queued deliveries, and later on their rows."""

from __future__ import annotations

import datetime as dt
from concurrent.futures import ThreadPoolExecutor
from threading import Event
from uuid import UUID

import pytest
from django.contrib.postgres.functions import TransactionNow
from django.db import connection, transaction

from notifications.core import clock
from notifications.core.delivery import deliver
from notifications.core.models import (
    BulkJob,
    BulkJobRange,
    CancelJob,
    Delivery,
    Notification,
    Preference,
    Recipient,
    Switch,
)
from notifications.core.operations import switches
from notifications.core.operations.switches import SwitchTarget
from notifications.core.rules.bulk_job import BulkJobState
from notifications.core.rules.reasons import Reason
from notifications.core.rules.states import Status
from notifications.core.rules.switches import SwitchKind
from notifications.core.store.cached import switches as cached
from notifications.core.sweeps import release
from notifications.features.bulk_jobs import changes, expand, pace, progress, stages
from notifications.features.bulk_jobs import expand_sweep as sweep
from notifications.features.bulk_jobs.create import BulkJobRefused
from notifications.features.cancel_jobs import jobs as cancel_jobs
from tests.features.bulk_jobs.conftest import NewJob, due_gaps, expand_all
from tests.journey import Reach


@pytest.fixture(autouse=True)
def _fresh(outbox: object) -> None:
    del outbox
    cached.forget()


def _people(reach: Reach, count: int) -> None:
    for number in range(count):
        reach(f"u{number}", email=f"u{number}@sandbox.example")


def _ids(job: BulkJob) -> list[UUID]:
    of = set(Notification.objects.filter(bulk_job_id=job.pk).values_list("id", flat=True))
    return [row.id for row in Delivery.objects.order_by("id") if row.notification_id in of]


def _statuses(job: BulkJob) -> set[Status]:
    return {Status(row.status) for row in Delivery.objects.filter(id__in=_ids(job))}


def _sweep() -> None:
    sweep.run_once(now=clock.now(), limit=5_000)
    for job in CancelJob.objects.filter(finished_at=None):
        while cancel_jobs.run(job.pk) is not None:
            pass


def test_a_pause_holds_the_messages_in_the_broker_and_stops_the_expansion(
    new_job: NewJob, reach: Reach
) -> None:
    _people(reach, 4)
    job, other = new_job(), new_job(name="other")
    expand.expand_page(stages.open_ranges(job, clock.now())[0], limit=2)
    expand_all(other)
    changes.pause(job.pk, by="maria", reason="wrong price")
    deliver.deliver([*_ids(job), *_ids(other)])
    assert _statuses(job) == {Status.SCHEDULED}
    assert {row.reason for row in Delivery.objects.filter(id__in=_ids(job))} == {Reason.PAUSED}
    assert _statuses(other) == {Status.SENT}
    _sweep()
    assert len(_ids(job)) == 2
    job.refresh_from_db()
    assert (job.state, job.state_reason) == (BulkJobState.PAUSED, "wrong price")
    assert changes.pause(job.pk, by="maria", reason="again").state_reason == "wrong price"
    assert Switch.objects.filter(kind=SwitchKind.BULK_JOB).count() == 1


def _resumed(new_job: NewJob) -> BulkJob:
    """Return a running job whose deliveries a pause has held."""
    job = new_job(rate_per_second=0.5)
    expand_all(job)
    Delivery.objects.update(due_at=TransactionNow())
    changes.pause(job.pk, by="maria", reason="wrong price")
    deliver.deliver(_ids(job))
    changes.resume(job.pk, by="maria")
    return job


def test_held_deliveries_of_a_resumed_job_leave_at_its_rate(new_job: NewJob, reach: Reach) -> None:
    _people(reach, 4)
    job = _resumed(new_job)
    assert release.end_switch_holds().moved == 4
    assert release.end_switch_holds().moved == 0
    assert due_gaps() == {2}
    progress.finish(BulkJob.objects.get(id=job.pk))
    job.refresh_from_db()
    assert job.state == BulkJobState.FINISHED


@pytest.mark.django_db(transaction=True)
def test_a_page_of_a_stopped_expander_delays_no_other_release(
    new_job: NewJob, reach: Reach
) -> None:
    _people(reach, 2)
    job = _resumed(new_job)
    is_locked, goes_on = Event(), Event()

    def page() -> None:
        with transaction.atomic():
            pace.due_times(job, 1, clock.now())
            is_locked.set()
            assert goes_on.wait(30)
        connection.close()

    with ThreadPoolExecutor(1) as pool:
        late = pool.submit(page)
        try:
            assert is_locked.wait(30)
            assert release.end_switch_holds().moved == 0
        finally:
            goes_on.set()
        late.result()
    assert release.end_switch_holds().moved == 2


def test_a_cancelled_job_sends_nothing_although_its_rows_are_cancelled_later(
    new_job: NewJob, reach: Reach
) -> None:
    _people(reach, 5)
    job = new_job()
    expand.expand_page(stages.open_ranges(job, clock.now())[0], limit=3)
    changes.cancel(job.pk, by="maria")
    deliver.deliver(_ids(job)[:2])  # messages that were in the broker
    assert Status.SENT not in _statuses(job)
    _sweep()
    assert _statuses(job) == {Status.CANCELLED}
    assert Switch.objects.filter(resumed_at=None).count() == 1  # held until the next run
    _sweep()
    assert not Switch.objects.filter(resumed_at=None)
    job.refresh_from_db()
    assert job.state == BulkJobState.CANCELLED
    assert job.finished_at is not None
    assert len(_ids(job)) == 3
    assert not BulkJobRange.objects.filter(job=job, finished_at=None)
    assert CancelJob.objects.get().bulk_job_id == job.pk
    with pytest.raises(BulkJobRefused):
        changes.resume(job.pk, by="maria")


@pytest.mark.parametrize("seconds", [-5, 5])
def test_a_cancellation_includes_rows_of_an_expander_with_another_clock(
    new_job: NewJob, reach: Reach, monkeypatch: pytest.MonkeyPatch, seconds: int
) -> None:
    _people(reach, 3)
    job = new_job()
    [part] = stages.open_ranges(job, clock.now())
    now = clock.now
    with monkeypatch.context() as other:
        other.setattr(clock, "now", lambda: now() + dt.timedelta(seconds=seconds))
        expand.expand_page(part)
    changes.cancel(job.pk, by="maria")
    _sweep()
    _sweep()
    assert _statuses(job) == {Status.CANCELLED}


def test_the_cancel_job_of_a_bulk_job_is_not_stopped(new_job: NewJob, reach: Reach) -> None:
    _people(reach, 3)
    job = new_job()
    expand_all(job)
    changes.cancel(job.pk, by="maria")
    sweep.run_once(now=clock.now(), limit=5_000)
    with pytest.raises(cancel_jobs.CancelJobRefused):
        cancel_jobs.stop(CancelJob.objects.get())
    _sweep()
    _sweep()
    deliver.deliver(_ids(job))
    assert _statuses(job) == {Status.CANCELLED}


def test_a_cancelled_job_has_one_cancel_job_whatever_the_clocks(
    new_job: NewJob, reach: Reach
) -> None:
    _people(reach, 1)
    job = new_job()
    changes.cancel(job.pk, by="maria")
    ahead = clock.now() + dt.timedelta(seconds=5)  # of the process with the request
    BulkJob.objects.filter(pk=job.pk).update(state_changed_at=ahead)
    _sweep()
    _sweep()
    assert CancelJob.objects.count() == 1
    job.refresh_from_db()
    assert job.finished_at is not None


def test_a_paused_job_can_be_cancelled(new_job: NewJob, reach: Reach) -> None:
    _people(reach, 2)
    job = new_job()
    expand_all(job)
    changes.pause(job.pk, by="maria", reason="wait")
    deliver.deliver(_ids(job))
    changes.abort(job.pk, reason="5 % bounced")
    _sweep()
    _sweep()
    assert _statuses(job) == {Status.CANCELLED}
    job.refresh_from_db()
    assert (job.state, job.state_reason) == (BulkJobState.ABORTED, "5 % bounced")


def test_a_job_that_has_not_started_is_paused_and_resumed(new_job: NewJob, reach: Reach) -> None:
    _people(reach, 1)
    job = new_job(scheduled_at=(clock.now() + dt.timedelta(hours=1)).isoformat())
    assert job.state == BulkJobState.SCHEDULED
    changes.pause(job.pk, by="maria", reason="wait")
    BulkJob.objects.update(starts_at=clock.now())
    assert progress.start_due(limit=10) == 0
    assert changes.resume(job.pk, by="maria").state == BulkJobState.SCHEDULED
    assert progress.start_due(limit=10) == 1


def test_the_switch_of_a_job_cannot_be_set_alone(new_job: NewJob) -> None:
    job = new_job()
    target = SwitchTarget(kind=SwitchKind.BULK_JOB, value=str(job.pk))
    with pytest.raises(switches.SwitchRefused):
        switches.set_switch(target, reason="x", expires_at=None, by="maria")


def test_a_recipient_who_opts_out_after_the_expansion_gets_nothing(
    new_job: NewJob, reach: Reach
) -> None:
    _people(reach, 2)
    job = new_job()
    expand_all(job)
    Preference.objects.create(
        recipient=Recipient.objects.get(user_id="u0"), categories_off=["social"]
    )
    deliver.deliver(_ids(job))
    assert sorted(Delivery.objects.values_list("status", flat=True)) == sorted([
        Status.SUPPRESSED,
        Status.SENT,
    ])
