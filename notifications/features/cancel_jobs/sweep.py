"""Cancel jobs: process open cancel jobs in turn, so that a large job does not block a small job."""

from __future__ import annotations

import datetime as dt
from typing import Final

import structlog

from notifications.core import clock
from notifications.core.models import CancelJob
from notifications.core.sweeps import rounds
from notifications.core.sweeps.rounds import Swept
from notifications.features.cancel_jobs import jobs as cancel_jobs

_log = structlog.get_logger(__name__)

_JOBS: Final = 20
"""Number of open jobs processed in turn, oldest first."""


def run_once(*, now: dt.datetime, limit: int) -> Swept:
    """Examine notifications of open jobs, page by page; `limit` bounds the jobs of a run.

    Safe to run twice, concurrently or late: a job is locked, and its position is stored with the
    cancellations. A job with an exception stops no other job; the next run tries it again.

    Raises:
        DATABASE_TROUBLE: the database is away; the next run goes on.
    """
    del now  # the position of a job decides
    ends_at, done = rounds.deadline(), Swept()
    jobs = list(
        CancelJob.objects
        .filter(finished_at=None)
        .order_by("id")
        .values_list("pk", flat=True)[: min(limit, _JOBS)]
    )
    while jobs:
        for job in tuple(jobs):
            try:
                examined = cancel_jobs.run(job)
            except rounds.DATABASE_TROUBLE:
                raise
            except Exception:  # noqa: BLE001 - whatever a job causes, it must not stop the others
                _log.exception("cancel_job_failed", job=job)
                done += Swept(failed=1)
                examined = None
            done += Swept(examined or 0)
            if examined is None:
                jobs.remove(job)
        if jobs and clock.monotonic() >= ends_at:
            return done + Swept(more=True)
    return done
