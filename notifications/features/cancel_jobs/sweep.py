"""Cancel jobs: process open cancel jobs in turn."""

from __future__ import annotations

import datetime as dt
from typing import Final

import structlog

from notifications.core.models import CancelJob
from notifications.core.sweeps import loops
from notifications.core.sweeps.rounds import Swept
from notifications.features.cancel_jobs import jobs as cancel_jobs

_log = structlog.get_logger(__name__)

_MOST_JOBS: Final = 1_000
"""Most jobs of a run."""


def run_once(*, now: dt.datetime, limit: int) -> Swept:
    """Examine notifications of open jobs, page by page; `limit` jobs take turns.

    Safe to run twice, concurrently or late: a job is locked, and its position is stored with the
    cancellations. A job with an exception stops no other job; the next run tries it again.

    Raises:
        DATABASE_TROUBLE: the database is away; the next run goes on.
    """
    del now  # the position of a job decides
    jobs = CancelJob.objects.filter(finished_at=None).order_by("id").values_list("pk", flat=True)
    return loops.in_turn(jobs[:_MOST_JOBS], _run, on_error=_log_error, at_once=limit)


def _run(job: int) -> Swept:
    examined = cancel_jobs.run(job)
    return Swept(examined or 0, more=examined is not None)


def _log_error(job: int, _error: Exception) -> None:
    _log.exception("cancel_job_failed", job=job)
