"""Replays: process open replay jobs in turn, so that a large job does not block a small job."""

from __future__ import annotations

import datetime as dt
from typing import Final

import structlog

from notifications.core import clock
from notifications.core.models import ReplayJob
from notifications.core.operations import replay
from notifications.core.sweeps import rounds
from notifications.core.sweeps.rounds import Swept

_log = structlog.get_logger(__name__)

_JOBS: Final = 20
"""Number of open jobs processed in turn, oldest first."""


def run_once(*, now: dt.datetime, limit: int) -> Swept:
    """Replay dead letters of open jobs, `limit` of each job at a time.

    Safe to run twice: dead letters are locked and closed. Several processes share a job. A dead
    letter with an exception leaves its job and stays open; a job with an exception stops no other
    job, and the next run tries the job again.
    """
    del now  # the age of a dead letter does not matter
    ends_at, done = rounds.deadline(), Swept()
    failed: set[int] = set()
    while True:
        jobs = ReplayJob.objects.filter(finished_at=None).exclude(id__in=failed).order_by("id")
        before = done.moved
        for job in jobs[:_JOBS]:
            swept = _run_job(job, limit=limit)
            failed |= {job.pk} if swept.failed and not swept.moved else set()
            done += swept
        if done.moved == before:
            return done
        if clock.monotonic() >= ends_at:
            return done + Swept(more=True)


def _run_job(job: ReplayJob, *, limit: int) -> Swept:
    try:
        ran = replay.run(job, limit=limit)
    except rounds.DATABASE_TROUBLE:
        raise
    except Exception:  # noqa: BLE001 - whatever a letter causes, it must not stop the other jobs
        _log.exception("replay_job_failed", job=job.pk)
        return Swept(failed=1)
    return Swept(ran.letters, ran.failed)
