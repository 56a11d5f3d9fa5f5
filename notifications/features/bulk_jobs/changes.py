"""Changes: pause, resume, cancel and abort a bulk job.

    pause     the job stops its expansion, and a switch of the kind `bulk_job` holds its deliveries
    resume    ends the switch; the held deliveries leave at the rate of the job, and the wait after
              a test group or a sample is longer by the pause
    cancel    a switch as for a pause, then a cancel job for all notifications of the job
    abort     the same as cancel, decided by the service

Webhook endpoints get every change, in the transaction of the change.

Each process reads the switches once a second, so a change acts on queued rows and on messages in
the broker within two seconds, with any number of rows. The cancel job may take minutes; no
delivery of the job leaves meanwhile, because the switch stays set until the cancel job is finished
(`end_cancelled`).
"""

from __future__ import annotations

from typing import Final
from uuid import UUID

from django.db import OperationalError, transaction

from notifications.core import clock
from notifications.core.models import BulkJob, BulkJobRange, CancelJob, Switch
from notifications.core.operations import switches
from notifications.core.rules.bulk_job import STOPPED, BulkJobState
from notifications.core.rules.lane import Mode
from notifications.core.rules.problems import Kind, Problem
from notifications.core.rules.switches import SwitchKind
from notifications.core.rules.webhook_events import StatusEvent
from notifications.core.store.cached import switches as cached
from notifications.core.store.postgres import webhook_messages
from notifications.features.bulk_jobs import stages
from notifications.features.bulk_jobs.create import BulkJobRefused
from notifications.features.cancel_jobs import jobs as cancel_jobs
from notifications.features.cancel_jobs.jobs import CancelFilter

SERVICE: Final = "service"
"""The author of a change that the service decides."""
_MAX_REASON: Final = 200
"""Characters of the reason of a switch."""
_EVENTS: Final = {
    BulkJobState.PAUSED: StatusEvent.BULK_JOB_PAUSED,
    BulkJobState.CANCELLED: StatusEvent.BULK_JOB_CANCELLED,
    BulkJobState.ABORTED: StatusEvent.BULK_JOB_ABORTED,
}
"""New state -> event for webhook endpoints; the other states are those of a resumed job."""


def pause(job_id: UUID, *, by: str, reason: str) -> BulkJob:
    """Pause a job: no further message of the job is sent within two seconds. Safe to run twice.

    Args:
        job_id: the job; also a finished job, which can have waiting deliveries.
        by: the operator, or the API key.
        reason: a sentence; each held delivery shows the reason.

    Raises:
        BulkJobRefused: the job was cancelled or aborted.
        BulkJob.DoesNotExist: there is no such job.
    """
    with transaction.atomic():
        job = _lock(job_id)
        _refuse_stopped(job)
        if job.state != BulkJobState.PAUSED:
            _set_switch(job, by=by, reason=reason)
            _change(job, BulkJobState.PAUSED, by=by, reason=reason)
    cached.forget()
    return job


def resume(job_id: UUID, *, by: str) -> BulkJob:
    """Resume a paused job; a job that is not paused stays as it is. Safe to run twice.

    Raises:
        BulkJobRefused: the job was cancelled or aborted.
        BulkJob.DoesNotExist: there is no such job.
    """
    with transaction.atomic():
        job = _lock(job_id)
        _refuse_stopped(job)
        if job.state == BulkJobState.PAUSED:
            state = BulkJobState.RUNNING if job.started_at else BulkJobState.SCHEDULED
            job.finished_at = None  # the expander finishes a job without an open range again
            reason = stages.move_times(job, now=clock.now())
            _change(job, state, by=by, reason=reason)
            _end_switch(job, by=by)
    cached.forget()
    return job


def cancel(job_id: UUID, *, by: str, reason: str = "") -> BulkJob:
    """Cancel a job: no further message is sent within two seconds. Safe to run twice.

    Sent messages stay sent. A finished job can be cancelled too, for its waiting deliveries.

    Raises:
        BulkJobRefused: the service has aborted the job.
        BulkJob.DoesNotExist: there is no such job.
    """
    return _stop(job_id, BulkJobState.CANCELLED, by=by, reason=reason)


def abort(job_id: UUID, *, reason: str) -> BulkJob:
    """Cancel a job because a limit was passed. Safe to run twice.

    Raises:
        BulkJobRefused: the job was cancelled.
        BulkJob.DoesNotExist: there is no such job.
    """
    return _stop(job_id, BulkJobState.ABORTED, by=SERVICE, reason=reason)


def _stop(job_id: UUID, state: BulkJobState, *, by: str, reason: str) -> BulkJob:
    with transaction.atomic():
        job = _lock(job_id)
        if job.state == state:
            return job
        _refuse_stopped(job)
        if job.state != BulkJobState.PAUSED:
            _set_switch(job, by=by, reason=reason or f"The bulk job is {state}.")
        job.finished_at = None  # `end_cancelled` finishes the job
        _change(job, state, by=by, reason=reason)
    cached.forget()
    return job


def end_cancelled(*, limit: int) -> int:
    """Go on with cancelled jobs: first the cancel job, then the end of the switch.

    The sweep `expand` calls this function each second. Safe to run twice, concurrently and late:
    the job is locked, and the deliveries stay held until the last step. The cancel job begins when
    no expander has a range of the job, so that no row is stored behind the cancel job.

    Returns:
        The number of changed jobs.
    """
    stopped = BulkJob.objects.filter(state__in=STOPPED, finished_at=None)
    found = stopped.order_by("id").values_list("id", flat=True)[:limit]
    return sum(_end_cancelled(job_id) for job_id in found)


def _end_cancelled(job_id: UUID) -> bool:
    try:
        with transaction.atomic():
            job = _free_job(job_id)
            if job is None:
                return False
            current = CancelJob.objects.filter(bulk_job=job).last()
            if current is None:
                return _begin_cancel_job(job)
            if current.finished_at is None:
                return False
            BulkJob.objects.filter(id=job.pk).update(finished_at=clock.now(), secrets=None)
            _end_switch(job, by=job.state_changed_by)
    except OperationalError:  # an expander has a range: the next run tries again
        return False
    cached.forget()
    return True


def _free_job(job_id: UUID) -> BulkJob | None:
    free = BulkJob.objects.select_for_update(skip_locked=True, of=("self",))
    return free.filter(id=job_id, state__in=STOPPED, finished_at=None).first()


def _begin_cancel_job(job: BulkJob) -> bool:
    """Close the ranges and start the cancel job.

    Raises:
        OperationalError: an expander has a range.
    """
    rows = BulkJobRange.objects.select_for_update(nowait=True).filter(job=job, finished_at=None)
    BulkJobRange.objects.filter(id__in=[each.pk for each in rows]).update(finished_at=clock.now())
    wanted = CancelFilter(
        mode=Mode(job.mode),
        producer_id=job.producer_id,
        bulk_job_id=job.pk,
        since=job.started_at or job.created_at,
    )
    by = job.state_changed_by
    cancel_jobs.start(wanted, requested_by=by, by=by)
    return True


def _lock(job_id: UUID) -> BulkJob:
    return BulkJob.objects.select_for_update(of=("self",)).get(id=job_id)


def _refuse_stopped(job: BulkJob) -> None:
    """Refuse a change of a cancelled or aborted job.

    Raises:
        BulkJobRefused: the job was cancelled or aborted.
    """
    if job.state in STOPPED:
        raise BulkJobRefused(Problem(Kind.CONFLICT, f"the bulk job is {job.state}"))


def _change(job: BulkJob, state: BulkJobState, *, by: str, reason: str) -> None:
    job.state = state
    job.state_reason = reason[:300]
    job.state_changed_at = clock.now()
    job.state_changed_by = by[:150]
    job.save(
        update_fields=[
            *("state", "state_reason", "state_changed_at", "state_changed_by"),
            "finished_at",
        ]
    )
    event = _EVENTS.get(state, StatusEvent.BULK_JOB_RESUMED)
    webhook_messages.tell_bulk_job(job.pk, event, reason=job.state_reason)


def _set_switch(job: BulkJob, *, by: str, reason: str) -> None:
    Switch.objects.create(
        kind=SwitchKind.BULK_JOB, value=str(job.pk), reason=reason[:_MAX_REASON], set_by=by[:150]
    )


def _end_switch(job: BulkJob, *, by: str) -> None:
    switches.resume(Switch.objects.filter(kind=SwitchKind.BULK_JOB, value=str(job.pk)), by=by)
