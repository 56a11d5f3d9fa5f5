"""Progress: a job begins at its start time, and is finished when each range is."""

from __future__ import annotations

from typing import Final
from uuid import UUID

from django.db import transaction

from notifications import clock
from notifications.bulk_jobs import ranges
from notifications.models import BulkJob
from notifications.rules.bulk_jobs.states import BulkJobState

_ERROR: Final = "The expansion of a page failed: "


def running() -> list[BulkJob]:
    """Return the jobs that run, oldest first."""
    return list(BulkJob.objects.filter(state=BulkJobState.RUNNING).order_by("id"))


def start_due(*, limit: int) -> int:
    """Start due jobs, with their ranges; returns their number.

    Safe to run twice and concurrently: the row of a job is locked, and a started job is not
    scheduled any more.
    """
    scheduled = BulkJob.objects.filter(state=BulkJobState.SCHEDULED, starts_at__lte=clock.now())
    due = scheduled.order_by("starts_at").values_list("id", flat=True)[:limit]
    return sum(_start(job_id) for job_id in due)


@transaction.atomic
def _start(job_id: UUID) -> bool:
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
    )
    return True


def finish(job: BulkJob) -> bool:
    """Finish a running job without an unfinished range. Safe to run twice.

    A job that waits for the winner of its A/B test gets further ranges and is not finished.
    """
    now = clock.now()
    return bool(
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
        )
    )


def note_error(job: BulkJob, error: str) -> None:
    """Show an error of the last page on a running job; an empty text removes it."""
    reason = f"{_ERROR}{error}. The next run tries again." if error else ""
    if job.state_reason != reason and (error or job.state_reason.startswith(_ERROR)):
        BulkJob.objects.filter(id=job.pk, state=BulkJobState.RUNNING).update(state_reason=reason)
        job.state_reason = reason
