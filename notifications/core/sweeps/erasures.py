"""Erasures: delete the notifications and inboxes of erased recipients."""

from __future__ import annotations

import datetime as dt
import functools
from typing import Final

import structlog

from notifications.core import feature
from notifications.core.models import ErasureJob
from notifications.core.store.postgres import erasure
from notifications.core.sweeps import loops
from notifications.core.sweeps.rounds import Swept

_log = structlog.get_logger(__name__)

_JOBS: Final = 20
"""Number of unfinished jobs processed in turn, oldest first."""


def run_once(*, now: dt.datetime, limit: int) -> Swept:
    """Process unfinished jobs in turn: the inbox, and `limit` notifications of each at a time.

    Safe to run twice. A job without remaining rows gets a receipt, which ends the job. A job waits
    while a day is frozen, because the rows of the day are out of reach until the day is dropped. A
    job with an exception stops no other job; the next run tries it again.

    Raises:
        DATABASE_TROUBLE: the database is away; the next run goes on.
    """
    jobs = erasure.open_jobs(limit=_JOBS)
    batch = functools.partial(_work_off, now=now, limit=limit)
    return loops.in_turn(jobs, batch, on_error=_log_error)


def _work_off(job: ErasureJob, *, now: dt.datetime, limit: int) -> Swept:
    ways = feature.functions("inbox_erasures") or [erasure.erase_inbox]
    items = sum(erase(job.recipient_id) for erase in ways)
    removed = erasure.work_off(job, now=now, limit=limit, inbox_items=items)
    return Swept(items + removed, more=items + removed > 0)


def _log_error(job: ErasureJob, _error: Exception) -> None:
    _log.exception("erasure_job_failed", job=job.pk)
