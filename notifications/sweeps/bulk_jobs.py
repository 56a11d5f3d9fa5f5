"""Bulk jobs: abort limits, the end of test groups, and winners of A/B tests.

    shares of failures, bounces, complaints -> abort, with an alert
    test group complete -> note the end of its wait
    sample complete -> note the end of its wait -> winner -> ranges of all other recipients

Safe to run twice and concurrently: an end is noted once, a job is aborted once, and the winner is
stored with the ranges, under the lock of the job, only while the job has no winner. Late or never:
a limit acts late, and the other recipients wait.
"""

from __future__ import annotations

import datetime as dt
from typing import Final

import structlog
from django.db import transaction

from notifications.bulk_jobs import changes, figures, ranges, stages
from notifications.bulk_jobs.create import BulkJobRefused
from notifications.models import BulkJob
from notifications.rules.alerts import AlertKind
from notifications.rules.bulk_jobs import limits, winner
from notifications.rules.bulk_jobs.figures import Total
from notifications.rules.bulk_jobs.states import BulkJobState
from notifications.rules.bulk_jobs.winner import Result
from notifications.store.postgres import alerts
from notifications.sweeps import rounds
from notifications.sweeps.rounds import Swept

_log = structlog.get_logger(__name__)

_WATCHED_AFTER: Final = dt.timedelta(days=3)
"""Time after the end of an expansion in which the limits count: deliveries may still wait."""


def run_once(*, now: dt.datetime, limit: int) -> Swept:
    """Check the jobs; counts the changed jobs. A job with an exception stops no other job.

    Raises:
        DATABASE_TROUBLE: the database is away; the next run goes on.
    """
    done = Swept()
    for job in _jobs(now)[:limit]:
        try:
            done += Swept(int(_aborts(job) or _goes_on(job, now)))
        except rounds.DATABASE_TROUBLE:
            raise
        except Exception:  # noqa: BLE001 - a job that fails, however, must not stop the others
            _log.exception("bulk_job_not_checked", job=str(job.pk))
            done += Swept(failed=1)
    return done


def _jobs(now: dt.datetime) -> list[BulkJob]:
    running = BulkJob.objects.filter(state=BulkJobState.RUNNING)
    finished = BulkJob.objects.filter(
        state=BulkJobState.FINISHED, finished_at__gt=now - _WATCHED_AFTER
    )
    return [*running.order_by("id"), *finished.exclude(abort_limits={}).order_by("id")]


def _aborts(job: BulkJob) -> bool:
    """Abort the job if a limit is passed."""
    if not job.abort_limits:
        return False
    whole = figures.of(job).whole
    reason = limits.breach(
        job.abort_limits,
        sent=whole.total(Total.SENT),
        failed=whole.total(Total.FAILED),
        bounced=whole.total(Total.BOUNCED),
        complained=whole.total(Total.COMPLAINED),
    )
    if not reason:
        return False
    try:
        changes.abort(job.pk, reason=reason)
    except BulkJobRefused:  # an operator was faster
        return False
    alerts.raise_once(AlertKind.BULK_JOB_ABORTED, str(job.pk), f"{job.name}: {reason}")
    return True


def _goes_on(job: BulkJob, now: dt.datetime) -> bool:
    """Note the end of a stage, or choose the winner."""
    if job.state != BulkJobState.RUNNING:
        return False
    if job.test_group_size and stages.note_test_group(job, now):
        return True
    if not job.winner_rule or job.winner:
        return False
    ends_at = stages.sample_end(job, now)
    return ends_at is not None and now >= ends_at and _choose_winner(job, now)


def _choose_winner(job: BulkJob, now: dt.datetime) -> bool:
    """Store the winner and the ranges of the other recipients, once."""
    rule = job.winner_rule or {}
    counts = figures.of(job).variants
    results = []
    for each in job.variants:
        found = counts.get(each["name"])
        sent = found.total(Total.SENT) if found else 0
        count = found.total(Total(rule["metric"])) if found else 0
        results.append(Result(each["name"], sent, count))
    chosen = winner.choose(results, metric=rule["metric"])
    with transaction.atomic():
        free = BulkJob.objects.select_for_update(of=("self",))
        locked = free.filter(pk=job.pk, state=BulkJobState.RUNNING, winner="").first()
        if locked is None:
            return False
        locked.winner, locked.state_reason = chosen.name, chosen.reason[:300]
        locked.save(update_fields=["winner", "state_reason"])
        ranges.make_rest(locked, now=now)
    return True
