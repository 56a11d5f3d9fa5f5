"""Bulk jobs: samples of the progress, abort limits, ends of test groups, winners of A/B tests.

    shares of failures, bounces, complaints -> abort, with an alert
    test group complete -> note the end of its wait
    sample complete -> note the end of its wait -> winner -> ranges of all other recipients

Safe to run twice and concurrently: an end is noted once, a job is aborted once, and the winner is
stored with the ranges, under the lock of the job, only while the job has no winner. Late or never:
a limit acts late, and the other recipients wait.
"""

from __future__ import annotations

import datetime as dt
from collections.abc import Sequence
from typing import Final
from uuid import UUID

import structlog
from django.db import transaction
from django.db.models import Q, QuerySet

from notifications.core.models import BulkJob
from notifications.core.rules.alerts import AlertKind
from notifications.core.rules.bulk_job import STOPPED, BulkJobState, Total
from notifications.core.store.cached import switches as cached
from notifications.core.store.postgres import alerts, audit
from notifications.core.sweeps import loops
from notifications.core.sweeps.rounds import Swept
from notifications.features.bulk_jobs import changes, figure_rows, figures, ranges, stages
from notifications.features.bulk_jobs.rules import variants
from notifications.features.bulk_jobs.rules.figures import breach_of
from notifications.features.bulk_jobs.rules.variants import VariantResult, Winner

_log = structlog.get_logger(__name__)

_WATCHED_AFTER: Final = dt.timedelta(days=3)
"""Time after the end of an expansion in which the limits count: deliveries may still wait.
`work_bulk_jobs.sql` has the same time."""


def run_once(*, now: dt.datetime, limit: int) -> Swept:
    """Check the jobs; counts the changed jobs. A job with an exception stops no other job.

    Raises:
        DATABASE_TROUBLE: the database is away; the next run goes on.
    """
    figure_rows.sample(now=now)
    jobs = _jobs(now)[:limit]
    breaches = _breaches(jobs)

    def check(job: BulkJob) -> Swept:
        return Swept(int(_aborts(job, breaches.get(job.pk, "")) or _goes_on(job, now)))

    return loops.in_turn(jobs, check, on_error=_log_error)


def _log_error(job: BulkJob, _error: Exception) -> None:
    _log.exception("bulk_job_not_checked", job=str(job.pk))


def _jobs(now: dt.datetime) -> list[BulkJob]:
    """Return running jobs, then other jobs with limits and possibly queued messages."""
    running = BulkJob.objects.filter(state=BulkJobState.RUNNING)
    limited = BulkJob.objects.exclude(abort_limits={}).filter(
        Q(state=BulkJobState.PAUSED)
        | Q(state=BulkJobState.FINISHED, finished_at__gt=now - _WATCHED_AFTER)
    )
    return [*running.order_by("id"), *limited.order_by("id")]


def _breaches(jobs: Sequence[BulkJob]) -> dict[UUID, str]:
    """Return a sentence about the passed limit per job, empty without a passed limit."""
    limited = [job for job in jobs if job.abort_limits]
    return {
        job.pk: breach_of(
            job.abort_limits,
            sent=found.whole.total(Total.SENT),
            failed=found.whole.total(Total.FAILED),
            bounced=found.whole.total(Total.BOUNCED),
            complained=found.whole.total(Total.COMPLAINED),
            test_group=job.test_group_size,
        )
        for job, found in zip(limited, figures.of_each(limited), strict=True)
    }


def _aborts(job: BulkJob, breach: str) -> bool:
    """Abort the job if a limit is passed, with the alert and the audit entry, once."""
    if not breach:
        return False
    with transaction.atomic():
        if _lock(job).exclude(state__in=STOPPED).first() is None:  # an operator was faster
            return False
        with audit.changes(changes.SERVICE, "abort_bulk_job", BulkJob.objects.filter(pk=job.pk)):
            changes.abort(job.pk, reason=breach)
        alerts.raise_once(AlertKind.BULK_JOB_ABORTED, str(job.pk), f"{job.name}: {breach}")
    cached.forget()
    return True


def _goes_on(job: BulkJob, now: dt.datetime) -> bool:
    """Note the end of a stage, or choose the winner."""
    if job.state != BulkJobState.RUNNING:
        return False
    if job.test_group_size and stages.note_test_group(job, now):
        return True
    if not job.winner_rule or job.winner:
        return False
    return _is_sample_over(job, now) and _choose_winner(job, now)


def _is_sample_over(job: BulkJob, now: dt.datetime) -> bool:
    ends_at = stages.sample_end(job, now)
    return ends_at is not None and now >= ends_at


def _choose_winner(job: BulkJob, now: dt.datetime) -> bool:
    """Store the winner and the ranges of the other recipients, once.

    A pause can have moved the end of the wait since the caller looked, so the locked job decides.
    """
    with transaction.atomic():
        locked = _lock(job).filter(state=BulkJobState.RUNNING, winner="").first()
        if locked is None or not _is_sample_over(locked, now):
            return False
        chosen = _winner_of(locked)
        row = BulkJob.objects.filter(pk=job.pk)
        with audit.changes(changes.SERVICE, "choose_bulk_job_winner", row):
            row.update(winner=chosen.name, state_reason=chosen.reason[:300])
        locked.winner = chosen.name
        ranges.make_rest(locked, now=now)
    return True


def _winner_of(job: BulkJob) -> Winner:
    """Compare the variants by the counts of their messages."""
    rule = job.winner_rule or {}
    counts = figures.of(job).variants
    results = []
    for each in job.variants:
        found = counts.get(each["name"])
        sent = found.total(Total.SENT) if found else 0
        count = found.total(Total(rule["metric"])) if found else 0
        results.append(VariantResult(each["name"], sent, count))
    return variants.choose_winner(results, metric=rule["metric"])


def _lock(job: BulkJob) -> QuerySet[BulkJob]:
    return BulkJob.objects.select_for_update(of=("self",)).filter(pk=job.pk)
