"""Cancel jobs: cancel every notification that matches a filter, with progress.

A job examines notifications in the order of their ids, a bounded number in each transaction, and
cancels those with a delivery that has not left (`scheduling.cancel`). A delivery in the hands of a
worker may still be sent, and gets no retry and no fallback. A sent member of a fallback chain
matches too while the next channel can follow. The position is stored in the transaction of the
cancellation, so a job goes on after a kill. Recurring schedules go on.
"""

from __future__ import annotations

import datetime as dt
from collections import Counter
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any, Final
from uuid import UUID

import orjson
from django.db import OperationalError

from notifications.core import clock
from notifications.core.models import CancelJob, ErasureJob, Template
from notifications.core.rules import ids, masking
from notifications.core.rules.audit_facts import Facts
from notifications.core.rules.lane import Mode, Priority
from notifications.core.rules.problems import Kind, Problem, Refused
from notifications.core.rules.states import OPEN, Status
from notifications.core.scheduling import cancel
from notifications.core.store.postgres import audit, db, db_errors, id_ranges

EXAMINED: Final = 2_000
"""Notifications that a transaction examines; all can match."""
_PREVIEWED: Final = 50
"""Pages of a preview."""
_BULK_JOB_IS_FINAL: Final = "the cancel job of a cancelled bulk job cannot be stopped"
_SECOND: Final = dt.timedelta(seconds=1)
_OVERLAP: Final = dt.timedelta(minutes=1)
"""Longer than the transaction of an erasure, which does not see the filter of a newer job."""
_CLOCK_ERROR: Final = dt.timedelta(seconds=10)
"""Most difference between the clocks of an expander and of this process, with a large reserve."""


@dataclass(frozen=True, slots=True, kw_only=True)
class CancelFilter:
    """Filter of notifications: every given field must match."""

    mode: Mode = Mode.LIVE
    producer_id: int | None = None
    bulk_job_id: UUID | None = None
    ids: tuple[UUID, ...] | None = None
    type: str = ""
    template_id: str = ""
    priority: Priority | None = None
    metadata: Mapping[str, Any] = field(default_factory=dict)
    since: dt.datetime | None = None
    """Accepted at or after this instant."""
    until: dt.datetime | None = None
    """Accepted before this instant."""

    @property
    def is_empty(self) -> bool:
        """True if no field besides the mode and the producer narrows the filter."""
        narrowing = (
            self.bulk_job_id,
            self.type,
            self.template_id,
            self.metadata,
            self.since,
            self.until,
        )
        return self.ids is None and self.priority is None and not any(narrowing)


@dataclass(frozen=True, slots=True)
class Preview:
    """The number of notifications that a job would cancel."""

    by_priority: Mapping[Priority, int]
    is_lower_bound: bool
    """True if the preview has not examined all notifications."""

    @property
    def total(self) -> int:
        """All priorities together."""
        return sum(self.by_priority.values())


def start(wanted: CancelFilter, *, requested_by: str, by: str) -> CancelJob:
    """Create and audit a job; the sweep `cancel_jobs` processes the job.

    Args:
        wanted: the notifications.
        requested_by: the user name of an operator, or the prefix of a key.
        by: the same in the form of the audit log.
    """

    def work() -> CancelJob:
        job = _job(wanted, requested_by=requested_by)
        job.save(force_insert=True)
        audit.record(by, "cancel_notifications", job, after=facts(job))
        return job

    return db.in_transaction(work)


def preview(wanted: CancelFilter) -> Preview:
    """Count the matching notifications among the first 100,000."""
    job = _job(wanted, requested_by="")
    found: Counter[Priority] = Counter()
    for number, page in enumerate(_pages(job)):
        found.update(Priority(each) for each in page["priorities"])
        if number + 1 == _PREVIEWED:
            return Preview(found, page["examined"] == EXAMINED)
    return Preview(found, is_lower_bound=False)


def run(job_id: int) -> int | None:
    """Cancel the next matching notifications of a job.

    Safe to run twice and in concurrent sweeps: the job is locked, and a locked job is skipped. A
    repeated cancellation changes nothing. The position stays before a locked notification.

    Returns:
        The number of examined notifications; None if the job is finished or locked, or if all
        matching notifications of the page are locked.

    Raises:
        OperationalError: any refusal of the database except the lock of a notification.
    """
    try:
        return db.in_transaction(lambda: _run(job_id, skips_locked=False))
    except OperationalError as error:
        if not db_errors.is_lock_timeout(error):
            raise
    return db.in_transaction(lambda: _run(job_id, skips_locked=True))


def _run(job_id: int, *, skips_locked: bool) -> int | None:
    open_jobs = CancelJob.objects.select_for_update(skip_locked=True).filter(finished_at=None)
    job = open_jobs.filter(id=job_id).first()
    if job is None:
        return None
    page = next(_pages(job), None)
    if page is None:
        _end(job)
        return None
    wanted: list[UUID] = page["ids"]
    free = cancel.lock_free(wanted) if skips_locked else wanted
    stopped = cancel.stop(free) if free else []
    locked = set(wanted).difference(free)
    job.after = UUID(int=min(locked).int - 1) if locked else page["last"]
    job.cancelled += len(free)
    job.stopped += len(stopped)
    job.save(update_fields=["after", "cancelled", "stopped"])
    return int(page["examined"]) if free or not locked else None


def facts(job: CancelJob) -> Facts:
    """Return the filter of a job, for the audit log and for operators; addresses are masked."""
    producer = job.producer.name if job.producer else ""
    given = len(job.notification_ids or ())
    return {
        "notifications": f"{given} by id" if given else "",
        "producer": producer,
        "bulk_job": job.bulk_job.name if job.bulk_job else "",
        "type": job.type,
        "template": job.template_id,
        "priority": "" if job.priority is None else Priority(job.priority).name,
        "metadata": masking.mask_text(", ".join(f"{a}: {b}" for a, b in job.metadata.items())),
        "accepted": f"{_written(job.first)} to {_written(job.until)}",
    }


def _written(any_id: UUID) -> str:
    return f"{ids.time_of(any_id):%Y-%m-%d %H:%M:%S} UTC"


class CancelJobRefused(Refused):
    """The job cannot be stopped."""


def stop(job: CancelJob) -> None:
    """Stop a job; cancelled notifications stay cancelled. Safe to run twice.

    Raises:
        CancelJobRefused: the job belongs to a cancelled bulk job, whose messages would be sent.
    """
    if job.bulk_job_id is not None:
        raise CancelJobRefused(Problem(Kind.CONFLICT, _BULK_JOB_IS_FINAL))

    def work() -> None:
        running = CancelJob.objects.select_for_update().filter(id=job.pk, finished_at=None)
        for each in running:
            _end(each, is_stopped=True)

    db.in_transaction(work)


def _end(job: CancelJob, *, is_stopped: bool = False) -> None:
    """End a locked job. If a recipient was erased meanwhile, the filter may name the recipient."""
    erased = ErasureJob.objects.filter(mode=job.mode, created_at__gt=job.created_at - _OVERLAP)
    if job.metadata and erased.exists():
        job.metadata = {}
    job.finished_at, job.is_stopped = clock.now(), is_stopped
    job.save(update_fields=["finished_at", "is_stopped", "metadata"])


def percent(job: CancelJob) -> int:
    """Return the progress of a job by the time of the examined notifications."""
    if job.finished_at and not job.is_stopped:
        return 100
    first, last = ids.time_of(job.first), ids.time_of(job.until)
    done = (ids.time_of(job.after) - first) / (last - first) if last > first else 0.0
    return max(0, min(99, int(100 * done)))


def _job(wanted: CancelFilter, *, requested_by: str) -> CancelJob:
    first, until = _bounds(wanted)
    return CancelJob(
        mode=wanted.mode,
        producer_id=wanted.producer_id,
        bulk_job_id=wanted.bulk_job_id,
        notification_ids=None if wanted.ids is None else sorted(set(wanted.ids)),
        type=wanted.type,
        template_id=wanted.template_id,
        priority=wanted.priority,
        metadata=dict(wanted.metadata),
        requested_by=requested_by[:150],
        after=first,
        first=first,
        until=until,
    )


def _bounds(wanted: CancelFilter) -> tuple[UUID, UUID]:
    """Return the id before the first and the last possible id."""
    now = clock.now()
    if wanted.ids is not None:
        last = min(max(wanted.ids), _id_at(now + _SECOND))
        return UUID(int=max(0, min(wanted.ids).int - 1)), last
    days = id_ranges.open_days()
    oldest = ids.floor_of(days[0]) if days else _id_at(now)
    since = wanted.since
    if since is not None and wanted.bulk_job_id is not None:
        since -= _CLOCK_ERROR
    first = max(_id_at(since), oldest) if since else oldest
    if wanted.bulk_job_id is not None:
        last = _id_at(now + _CLOCK_ERROR)  # the rows of the job exist: no later row joins
    else:
        last = _id_at(min(wanted.until or now, now) + dt.timedelta(milliseconds=1))
    return UUID(int=first.int - 1), UUID(int=max(first.int, last.int - 1))


def _id_at(instant: dt.datetime) -> UUID:
    return ids.notification_id(at_ms=int(instant.timestamp() * 1000), entropy=0)


def _pages(job: CancelJob) -> Iterator[dict[str, Any]]:
    """Yield pages of examined notifications, without days with no open delivery."""
    after = job.after
    days = id_ranges.open_days()
    parameters = _parameters(job)
    while (start := _next_open(after, days)) is not None and start < job.until:
        after = min(_end_of_day(start), job.until)
        [page] = db.rows("cancel_page", {**parameters, "after": start, "until": after})
        if page["examined"]:
            after = page["last"]
            yield page


def _end_of_day(after: UUID) -> UUID:
    """Return the last possible id of the day of the id that follows."""
    day = ids.day_of(UUID(int=after.int + 1))
    return UUID(int=ids.floor_of(day + dt.timedelta(days=1)).int - 1)


def _next_open(after: UUID, days: list[dt.date]) -> UUID | None:
    """Return `after`, or the end before the next day with an open delivery; None: no such day."""
    day = ids.day_of(UUID(int=after.int + 1))
    later = [each for each in days if each >= day]
    if not later:
        return None
    return after if later[0] == day else UUID(int=ids.floor_of(later[0]).int - 1)


def _parameters(job: CancelJob) -> dict[str, object]:
    templates = None
    if job.template_id:
        versions = Template.objects.filter(template_id=job.template_id)
        templates = list(versions.values_list("pk", flat=True))
    return {
        "examined": EXAMINED,
        "mode": job.mode,
        "producer": job.producer_id,
        "bulk_job": job.bulk_job_id,
        "ids": job.notification_ids,
        "type": job.type,
        "templates": templates,
        "priority": job.priority,
        "metadata": orjson.dumps(job.metadata).decode(),
        "open": sorted(OPEN),
        "sent": Status.SENT,
    }
