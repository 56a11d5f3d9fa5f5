"""Progress: a job begins at the start time, is finished with the ranges, and is deleted later."""

from __future__ import annotations

import contextlib
import datetime as dt
from typing import Final
from uuid import UUID

import structlog
from django.db import transaction

from notifications.core import clock
from notifications.core.models import BulkJob
from notifications.core.rules.bulk_job import BulkJobState
from notifications.core.rules.lane import Mode
from notifications.core.rules.webhook_events import StatusEvent
from notifications.core.store.postgres import locks, webhook_messages
from notifications.features.audiences.rows import estimates
from notifications.features.audiences.rules import parse
from notifications.features.audiences.rules.faults import ExpressionError
from notifications.features.bulk_jobs import changes, ranges
from notifications.features.bulk_jobs.create import BulkJobRefused

_log = structlog.get_logger(__name__)

_COUNT: Final = "count an audience"
_ERROR: Final = "The expansion of a page failed: "
_KEPT_LONGER: Final = dt.timedelta(days=8)
"""A bulk job outlives its notifications, whose last day may wait for an open delivery."""


def running() -> list[BulkJob]:
    """Return the running jobs, oldest first."""
    return list(BulkJob.objects.filter(state=BulkJobState.RUNNING).order_by("id"))


def start_due(*, limit: int) -> int:
    """Start due jobs, with ranges and size of the audience; returns the number of jobs.

    Safe to run twice and concurrently: the row of a job is locked, and a started job is not
    scheduled any more. A job with a deleted part of the audience is paused. One expander at a time
    counts an audience exactly, which may take minutes: the others expand the running jobs.
    """
    scheduled = BulkJob.objects.filter(state=BulkJobState.SCHEDULED, starts_at__lte=clock.now())
    return sum(_start(job) for job in scheduled.order_by("starts_at")[:limit])


def _start(job: BulkJob) -> bool:
    try:
        with transaction.atomic():
            if job.spread_seconds and not locks.try_for_transaction(_COUNT):
                return False  # another expander counts an audience; this one expands
            size = _size(job)  # before the lock of the row: a large audience takes seconds
            return _start_locked(job.pk, size)
    except ExpressionError as error:
        pause(job, f"audience: {error}")
        return False


def _start_locked(job_id: UUID, size: int) -> bool:
    free = BulkJob.objects.select_for_update(skip_locked=True, of=("self",))
    job = free.filter(id=job_id, state=BulkJobState.SCHEDULED).first()
    if job is None:
        return False
    now = clock.now()
    ranges.make(job, now=now)
    BulkJob.objects.filter(id=job_id).update(
        state=BulkJobState.RUNNING,
        state_reason="",
        state_changed_at=now,
        state_changed_by="",
        started_at=now,
        estimate=size,
    )
    webhook_messages.tell_bulk_job(job_id, StatusEvent.BULK_JOB_STARTED)
    return True


def _size(job: BulkJob) -> int:
    """Return the number of recipients: exact for `spread_seconds`, as the base of the rate.

    Raises:
        ExpressionError: a part of the audience was deleted.
    """
    audience, mode = parse.parse(job.audience), Mode(job.mode)
    if job.spread_seconds:
        return estimates.count(audience, mode=mode)
    return estimates.estimate(audience, mode=mode).count


def pause(job: BulkJob, reason: str) -> None:
    """Pause a job for an operator; a stopped or deleted job stays unchanged."""
    _log.warning("bulk_job_paused", job=str(job.pk), reason=reason)
    with contextlib.suppress(BulkJobRefused, BulkJob.DoesNotExist):
        changes.pause(job.pk, by=changes.SERVICE, reason=reason)


@transaction.atomic
def finish(job: BulkJob) -> bool:
    """Finish a running job without an unfinished range. Safe to run twice.

    A job that waits for the winner of its A/B test gets further ranges and is not finished.
    """
    now = clock.now()
    is_finished = bool(
        BulkJob.objects
        .filter(id=job.pk, state=BulkJobState.RUNNING)
        .exclude(ranges__finished_at=None, ranges__isnull=False)
        .exclude(winner_rule__isnull=False, winner="")
        .update(
            state=BulkJobState.FINISHED,
            state_reason="",
            state_changed_at=now,
            state_changed_by="",
            finished_at=now,
            secrets=None,
        )
    )
    if is_finished:
        webhook_messages.tell_bulk_job(job.pk, StatusEvent.BULK_JOB_FINISHED)
    return is_finished


def forget(*, before: dt.datetime, limit: int) -> int:
    """Delete up to `limit` jobs that ended _KEPT_LONGER before an instant, with all their rows.

    A paused job never ends by itself and stays. Safe to run twice.
    """
    final = [each for each in BulkJobState if each.is_final]
    old = BulkJob.objects.filter(state__in=final, finished_at__lt=before - _KEPT_LONGER)
    wanted = list(old.order_by("finished_at").values_list("id", flat=True)[:limit])
    BulkJob.objects.filter(id__in=wanted).delete()
    return len(wanted)


def note_error(job: BulkJob, error: str) -> None:
    """Show an error of the last page on a running job; an empty text removes it.

    A reason that another process has stored meanwhile stays.
    """
    reason = f"{_ERROR}{error}. The next run tries again." if error else ""
    if job.state_reason != reason and (error or job.state_reason.startswith(_ERROR)):
        running = BulkJob.objects.filter(id=job.pk, state=BulkJobState.RUNNING)
        running.filter(state_reason=job.state_reason).update(state_reason=reason)
        job.state_reason = reason
