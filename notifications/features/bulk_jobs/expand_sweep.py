"""Expand: pages of bulk jobs, a page of each job in turn, so that a large job blocks no other job.

Several expanders share a job by its ranges: a locked range is skipped.
"""

from __future__ import annotations

import datetime as dt
from typing import Final

import structlog
from psycopg.errors import LockNotAvailable

from notifications.core import clock
from notifications.core.models import BulkJob
from notifications.core.sweeps import rounds
from notifications.core.sweeps.rounds import Swept
from notifications.features.audiences.rules.faults import ExpressionError
from notifications.features.bulk_jobs import changes, expand, progress, ranges
from notifications.features.bulk_jobs.page import TemplateGone

_log = structlog.get_logger(__name__)

SECONDS: Final = 4.0
"""Maximum seconds of a run on its own queue, which no other sweep waits for."""


def run_once(*, now: dt.datetime, limit: int) -> Swept:
    """Start due jobs and expand running jobs; `limit`: recipients of a page.

    Safe to run twice, concurrently, late or never: the checkpoint of a range is stored with the
    rows of its page, and a job without an expander waits. A job with an exception stops no other
    job; the next run tries it again, and the job shows the error.

    Raises:
        DATABASE_TROUBLE: the database is away; the next run goes on.
    """
    del now  # the start times and the pace of the jobs decide
    ends_at = clock.monotonic() + SECONDS
    done = Swept(progress.start_due(limit=limit) + changes.end_cancelled(limit=limit))
    jobs = progress.running()
    while jobs:
        for job in tuple(jobs):
            swept = _one_page(job, limit=limit)
            done += swept
            if not swept.moved:
                jobs.remove(job)
        if jobs and clock.monotonic() >= ends_at:
            return done + Swept(more=True)
    return done


def _one_page(job: BulkJob, *, limit: int) -> Swept:
    """Expand a page of the first range that is free and may go on; no move: nothing to do now.

    Raises:
        DATABASE_TROUBLE: the database is away.
    """
    try:
        for part in ranges.expandable(job, now=clock.now()):
            found = expand.expand_page(part, limit=limit)
            if found.read or found.is_range_done:
                progress.note_error(job, "")
                return Swept(max(1, found.accepted))
        progress.finish(job)
    except rounds.DATABASE_TROUBLE as error:
        if isinstance(error.__cause__, LockNotAvailable):
            _log.warning("bulk_job_locked", job=str(job.pk))
            return Swept()  # another process has the slots of the job: the next run goes on
        raise
    except TemplateGone:
        progress.pause(job, str(TemplateGone.__doc__))
        return Swept(failed=1)
    except ExpressionError as error:
        progress.pause(job, f"audience: {error}")
        return Swept(failed=1)
    except Exception as error:  # noqa: BLE001 - whatever a job causes, it must not stop the others
        _log.exception("page_not_expanded", job=str(job.pk))
        progress.note_error(job, type(error).__name__)
        return Swept(failed=1)
    return Swept()
