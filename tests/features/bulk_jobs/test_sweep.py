"""The sweep of bulk jobs: abort limits, test groups, and winners of A/B tests."""

from __future__ import annotations

import datetime as dt
import itertools
import threading
from unittest import mock

import pytest
from django.db import connection

from notifications.core import clock, conf
from notifications.core.models import (
    Alert,
    AuditEntry,
    BulkJob,
    BulkJobFigure,
    BulkJobPace,
    BulkJobRange,
    CancelJob,
    Notification,
)
from notifications.core.rules.alerts import AlertKind
from notifications.core.rules.bulk_job import BulkJobState
from notifications.core.sweeps import housekeeping
from notifications.features.bulk_jobs import changes, expand, progress, stages
from notifications.features.bulk_jobs import sweep as bulk_jobs
from notifications.features.bulk_jobs.create import BulkJobRefused
from notifications.features.bulk_jobs.rules import variants
from tests.features.bulk_jobs.conftest import NewJob, expand_all, new_job
from tests.journey import Reach, caller, outbox, reach, scripted, take
from tests.sweeps.conftest import _no_old_answers

__all__ = ["_no_old_answers", "caller", "new_job", "outbox", "reach", "scripted", "take"]

_DAY = dt.timedelta(days=1)
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
    assert AuditEntry.objects.get(operation="abort_bulk_job").after["state"] == "aborted"
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
def test_a_paused_job_over_its_limit_is_aborted_before_the_resume(new_job: NewJob) -> None:
    job = new_job(abort_limits={"bounced": 0.05})
    changes.pause(job.pk, by="ada", reason="Look at the bounces.")
    _figures(job, sent=100, bounced=6)
    assert _sweep() == 1
    with pytest.raises(BulkJobRefused):
        changes.resume(job.pk, by="ada")


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


@pytest.mark.django_db
def test_a_pause_makes_the_wait_longer_and_the_winner_later(new_job: NewJob) -> None:
    job = new_job(variants=_VARIANTS, winner=_WINNER)
    BulkJobRange.objects.filter(job=job).update(finished_at=clock.now())
    assert _sweep() == 0
    ends_at = BulkJobPace.objects.get(job=job).sample_ends_at
    changes.pause(job.pk, by="ada", reason="Look at the texts.")
    assert _sweep(after=2 * _MINUTE) == 0  # late, but the job is paused
    BulkJob.objects.filter(pk=job.pk).update(state_changed_at=clock.now() - 30 * _MINUTE)
    found = changes.resume(job.pk, by="ada")
    later = BulkJobPace.objects.get(job=job).sample_ends_at
    assert ends_at is not None
    assert later is not None
    assert 30 * _MINUTE <= later - ends_at < 31 * _MINUTE
    assert found.state_reason.startswith("The sample is complete. The winner is chosen at")
    assert _sweep(after=2 * _MINUTE) == 0
    assert _sweep(after=32 * _MINUTE) == 1


@pytest.mark.django_db
def test_a_pause_during_the_choice_of_the_winner_makes_the_winner_later(
    new_job: NewJob, monkeypatch: pytest.MonkeyPatch
) -> None:
    job = new_job(variants=_VARIANTS, winner=_WINNER)
    BulkJobRange.objects.filter(job=job).update(finished_at=clock.now())
    _sweep()
    read = stages.sample_end

    def read_and_stop(found: BulkJob, now: dt.datetime) -> dt.datetime | None:
        ends_at = read(found, now)
        monkeypatch.setattr(stages, "sample_end", read)
        changes.pause(job.pk, by="ada", reason="Look at the texts.")
        BulkJob.objects.filter(pk=job.pk).update(state_changed_at=clock.now() - 30 * _MINUTE)
        changes.resume(job.pk, by="ada")
        return ends_at

    monkeypatch.setattr(stages, "sample_end", read_and_stop)
    assert _sweep(after=2 * _MINUTE) == 0
    assert BulkJob.objects.get(pk=job.pk).winner == ""
    assert _sweep(after=32 * _MINUTE) == 1


@pytest.mark.django_db
def test_a_small_test_group_aborts_the_job_only_if_each_message_failed(new_job: NewJob) -> None:
    group = {"size": 4, "wait_seconds": 300}
    bad = new_job(abort_limits={"failed": 0.5}, test_group=group)
    good = new_job(abort_limits={"failed": 0.5}, test_group=group)
    _figures(bad, failed=4)
    _figures(good, failed=3, sent=1)
    assert _sweep() == 1
    assert set(BulkJob.objects.values_list("id", "state")) == {
        (bad.pk, BulkJobState.ABORTED),
        (good.pk, BulkJobState.RUNNING),
    }


@pytest.mark.django_db
def test_a_pause_after_the_wait_changes_no_end(new_job: NewJob) -> None:
    job = new_job(test_group={"size": 4, "wait_seconds": 300})
    ended = clock.now() - _MINUTE
    BulkJobPace.objects.create(job=job, test_group_ends_at=ended)
    changes.pause(job.pk, by="ada", reason="Look at the texts.")
    assert not changes.resume(job.pk, by="ada").state_reason
    assert BulkJobPace.objects.get(job=job).test_group_ends_at == ended


@pytest.mark.django_db
def test_a_job_with_a_test_group_a_sample_and_a_spread_keeps_each(
    new_job: NewJob, reach: Reach
) -> None:
    people = [reach(f"u{n}", email=f"u{n}@sandbox.example") for n in range(60)]
    job = new_job(
        variants=_VARIANTS,
        winner=_WINNER,
        test_group={"size": 5, "wait_seconds": 300},
        spread_seconds=3_000,
    )
    assert job.estimate == len(people)  # a slot every 50 seconds
    sent = Notification.objects.filter(bulk_job_id=job.pk)
    now = clock.now()
    ends: dict[str, dt.datetime] = {}
    for minute in range(80):
        with mock.patch.object(clock, "now", return_value=now + minute * _MINUTE):
            _sweep()
            while any(
                expand.expand_page(part).read for part in stages.open_ranges(job, clock.now())
            ):
                continue
            progress.finish(job)
            job.refresh_from_db()
            row = BulkJobPace.objects.get(job=job)
        for column in ("test_group_ends_at", "sample_ends_at"):
            if (at := getattr(row, column)) is not None:
                ends.setdefault(column, at)
    assert job.state == BulkJobState.FINISHED
    assert sent.all().values("recipient_id").distinct().count() == sent.all().count() == len(people)
    times = sorted(each.scheduled_at or each.created_at for each in sent.all())
    assert len([at for at in times if at < ends["test_group_ends_at"]]) == 5
    gaps = [(later - before).total_seconds() for before, later in itertools.pairwise(times)]
    assert min(gaps) >= 49
    after_winner = {each.variant for each in sent.filter(created_at__gt=ends["sample_ends_at"])}
    assert after_winner == {"plain"}
    assert {each.variant for each in sent.filter(created_at__lt=ends["sample_ends_at"])} == {
        "plain",
        "bold",
    }


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
    entry = AuditEntry.objects.get(operation="choose_bulk_job_winner")
    assert (entry.by, entry.after["winner"]) == ("service", "plain")
    assert "each variant needs 30 sent messages" in found.state_reason


@pytest.mark.django_db
def test_an_ended_job_is_deleted_after_its_notifications(new_job: NewJob, reach: Reach) -> None:
    reach("a", email="a@sandbox.example")
    ended, waiting, cancelled = new_job(), new_job(rate_per_second=1), new_job()
    expand_all(ended)
    BulkJobFigure.objects.create(job=ended, kind="total", name="sent", count=1)
    changes.pause(waiting.pk, by="maria", reason="wait")
    changes.cancel(cancelled.pk, by="maria")
    changes.end_cancelled(limit=10)  # makes the cancel job
    CancelJob.objects.update(finished_at=clock.now())
    changes.end_cancelled(limit=10)
    kept = conf.current().retention
    for age, left in ((kept + 7 * _DAY, 3), (kept + 9 * _DAY, 1)):
        housekeeping.run_once(now=clock.now() + age, limit=1)
        assert BulkJob.objects.count() == left
    assert BulkJob.objects.get().pk == waiting.pk
    assert not BulkJobRange.objects.exclude(job=waiting).exists()
    assert not BulkJobFigure.objects.exists()
    assert not CancelJob.objects.exists()
