"""Replays: process open replay jobs in turn."""

from __future__ import annotations

import datetime as dt
import functools
from typing import Final

import structlog

from notifications.core.models import ReplayJob
from notifications.core.operations import replay
from notifications.core.sweeps import loops
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
    jobs = ReplayJob.objects.filter(finished_at=None).order_by("id")[:_JOBS]
    return loops.in_turn(jobs, functools.partial(_run_job, limit=limit), on_error=_log_error)


def _run_job(job: ReplayJob, *, limit: int) -> Swept:
    ran = replay.run(job, limit=limit)
    return Swept(ran.letters, ran.failed, more=ran.letters > 0)


def _log_error(job: ReplayJob, _error: Exception) -> None:
    _log.exception("replay_job_failed", job=job.pk)
