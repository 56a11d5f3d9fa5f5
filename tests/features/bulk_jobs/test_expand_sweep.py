"""The sweep `expand` goes on with every job, and shows the errors of a job."""

from __future__ import annotations

import datetime as dt
from concurrent.futures import ThreadPoolExecutor
from threading import Event

import pytest
from django.db import connection, transaction

from notifications.core import clock
from notifications.core.models import BulkJob, BulkJobRange, Notification, Switch, Template
from notifications.core.rules.bulk_job import BulkJobState
from notifications.core.rules.lane import EXPAND, OPS
from notifications.core.store.postgres import locks
from notifications.core.store.templates import template_cache
from notifications.core.sweeps import SWEEPS
from notifications.features.bulk_jobs import expand as pages
from notifications.features.bulk_jobs import expand_sweep, progress, rows
from tests.features.bulk_jobs.conftest import NewJob, new_job
from tests.journey import Reach, caller, reach
from tests.sweeps.conftest import _no_old_answers

__all__ = ["_no_old_answers", "caller", "new_job", "reach"]


def _messages(job: BulkJob) -> int:
    return Notification.objects.filter(bulk_job_id=job.pk).count()


def test_due_jobs_are_started_expanded_and_finished(new_job: NewJob, reach: Reach) -> None:
    for number in range(5):
        reach(f"u{number}", email=f"u{number}@sandbox.example")
    jobs = [new_job(), new_job(name="second")]
    swept = expand_sweep.run_once(now=clock.now(), limit=2)
    assert (swept.failed, swept.more) == (0, False)
    for job in jobs:
        job.refresh_from_db()
        assert job.state == BulkJobState.FINISHED
        assert _messages(job) == 5


@pytest.mark.django_db(transaction=True)
def test_a_second_expander_does_not_count_an_audience_but_starts_other_jobs(
    new_job: NewJob, reach: Reach
) -> None:
    reach("u0", email="u0@sandbox.example")
    held, go_on = Event(), Event()

    def count() -> None:
        """Hold the lock of an expander that counts an audience for minutes."""
        with transaction.atomic():
            assert locks.try_for_transaction(progress._COUNT)
            held.set()
            assert go_on.wait(60)
        connection.close()

    with ThreadPoolExecutor(1) as pool:
        counting = pool.submit(count)
        assert held.wait(60)
        spread, plain = new_job(spread_seconds=60), new_job(name="second")
        expand_sweep.run_once(now=clock.now(), limit=100)
        assert _states(spread, plain) == [BulkJobState.SCHEDULED, BulkJobState.FINISHED]
        go_on.set()
        counting.result()
    expand_sweep.run_once(now=clock.now(), limit=100)
    assert _states(spread) == [BulkJobState.RUNNING]


@pytest.mark.django_db(transaction=True)
@pytest.mark.parametrize(
    "pace",
    [{}, {"rate_per_second": 100}, {"rate_per_second": 1_000}],
    ids=["no rate", "exclusive slots", "shared slots"],
)
def test_an_expander_that_is_stopped_in_a_page_blocks_no_other_job(
    pace: dict[str, int], new_job: NewJob, reach: Reach, monkeypatch: pytest.MonkeyPatch
) -> None:
    reach("u", email="u@sandbox.example")
    stopped, other = new_job(**pace), new_job(name="other")
    first = BulkJobRange.objects.get(job=stopped)
    BulkJobRange.objects.create(job=stopped, number=9, first=0, cursor=0, until=0)
    insert, is_stopped, goes_on = rows.insert, Event(), Event()

    def insert_and_stop(messages: list[rows.NewMessage], *, now: dt.datetime) -> None:
        insert(messages, now=now)
        monkeypatch.setattr(rows, "insert", insert)
        is_stopped.set()
        assert goes_on.wait(30)

    def page() -> int:
        try:
            return pages.expand_page(first.pk).accepted
        finally:
            connection.close()

    monkeypatch.setattr(rows, "insert", insert_and_stop)
    with ThreadPoolExecutor(1) as pool:
        late = pool.submit(page)
        try:
            assert is_stopped.wait(30)
            expand_sweep.run_once(now=clock.now(), limit=100)
            assert _states(stopped, other) == [BulkJobState.RUNNING, BulkJobState.FINISHED]
        finally:
            goes_on.set()
        assert late.result() == 1
    expand_sweep.run_once(now=clock.now(), limit=100)
    assert (_messages(stopped), _messages(other)) == (1, 1)


def _states(*jobs: BulkJob) -> list[str]:
    return [BulkJob.objects.get(pk=each.pk).state for each in jobs]


def test_a_job_with_a_deleted_template_is_paused_and_others_go_on(
    new_job: NewJob, reach: Reach
) -> None:
    reach("u", email="u@sandbox.example")
    broken, other = new_job(), new_job(name="other")
    kept = Template.objects.get()
    BulkJob.objects.filter(id=broken.pk).update(template=kept.pk + 1)
    template_cache.forget()
    swept = expand_sweep.run_once(now=clock.now(), limit=10)
    assert swept.failed == 1
    broken.refresh_from_db()
    assert broken.state == BulkJobState.PAUSED
    assert "template version" in broken.state_reason
    assert Switch.objects.get(kind="bulk_job").value == str(broken.pk)
    assert _messages(other) == 1


def test_a_job_with_a_deleted_topic_is_paused(new_job: NewJob, reach: Reach) -> None:
    reach("u", email="u@sandbox.example")
    job = new_job()
    BulkJob.objects.filter(id=job.pk).update(audience={"topic": "gone"})
    expand_sweep.run_once(now=clock.now(), limit=10)
    job.refresh_from_db()
    assert job.state == BulkJobState.PAUSED
    assert "gone" in job.state_reason


def test_a_job_whose_topic_is_deleted_before_the_start_is_paused(
    new_job: NewJob, reach: Reach
) -> None:
    reach("u", email="u@sandbox.example")
    broken, other = new_job(), new_job(name="other")
    BulkJob.objects.update(state=BulkJobState.SCHEDULED, started_at=None)
    BulkJobRange.objects.all().delete()
    BulkJob.objects.filter(id=broken.pk).update(audience={"topic": "gone"})
    expand_sweep.run_once(now=clock.now(), limit=10)
    broken.refresh_from_db()
    other.refresh_from_db()
    assert broken.state == BulkJobState.PAUSED
    assert broken.state_reason.startswith("audience: ")
    assert (other.state, other.estimate) == (BulkJobState.FINISHED, 1)


def test_an_error_is_shown_until_a_page_succeeds(
    new_job: NewJob, reach: Reach, monkeypatch: pytest.MonkeyPatch
) -> None:
    reach("u", email="u@sandbox.example")
    job = new_job()
    page = pages.expand_page

    def fail(_range: int, **_options: int) -> pages.Expanded:
        raise RuntimeError

    monkeypatch.setattr(pages, "expand_page", fail)
    assert expand_sweep.run_once(now=clock.now(), limit=10).failed == 1
    job.refresh_from_db()
    assert "RuntimeError" in job.state_reason
    monkeypatch.setattr(pages, "expand_page", page)
    expand_sweep.run_once(now=clock.now(), limit=10)
    job.refresh_from_db()
    assert (job.state, job.state_reason, _messages(job)) == (BulkJobState.FINISHED, "", 1)


def test_a_later_reason_of_the_state_stays(new_job: NewJob) -> None:
    job = new_job()
    progress.note_error(job, "RuntimeError")
    BulkJob.objects.update(state_reason="The test group is complete.")
    progress.note_error(job, "")
    progress.note_error(job, "RuntimeError")
    job.refresh_from_db()
    assert job.state_reason == "The test group is complete."


def test_no_sweep_of_the_core_waits_for_an_expansion() -> None:
    queues = {name: SWEEPS[name].queue for name in ("expand", "bulk_jobs")}
    assert queues == {"expand": EXPAND, "bulk_jobs": OPS}
