"""Erasures: delete the notifications and inboxes of erased recipients."""

from __future__ import annotations

import datetime as dt
from typing import Final

import structlog

from notifications.core import clock, feature
from notifications.core.models import ErasureJob
from notifications.core.store.postgres import erasure
from notifications.core.sweeps import rounds
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
    ends_at, done = rounds.deadline(), Swept()
    failed: set[int] = set()
    while True:
        before = done.moved
        for job in erasure.open_jobs(limit=_JOBS, without=failed):
            swept = _work_off(job, now, limit)
            failed |= {job.pk} if swept.failed else set()
            done += swept
        if done.moved == before:
            return done
        if clock.monotonic() >= ends_at:
            return done + Swept(more=True)


def _work_off(job: ErasureJob, now: dt.datetime, limit: int) -> Swept:
    try:
        ways = feature.functions("inbox_erasures") or [erasure.erase_inbox]
        items = sum(erase(job.recipient_id) for erase in ways)
        removed = erasure.work_off(job, now=now, limit=limit, inbox_items=items)
    except rounds.DATABASE_TROUBLE:
        raise
    except Exception:  # noqa: BLE001 - whatever a job causes, it must not stop the others
        _log.exception("erasure_job_failed", job=job.pk)
        return Swept(failed=1)
    return Swept(items + removed)
