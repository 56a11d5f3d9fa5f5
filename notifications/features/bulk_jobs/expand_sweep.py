"""Expand: pages of bulk jobs in turn, so that a large job blocks no other job.

Several expanders share a job by its ranges: a locked range is skipped.
"""

from __future__ import annotations

import datetime as dt
import functools
from typing import Final

import structlog
from django.db import OperationalError
from psycopg.errors import LockNotAvailable

from notifications.core import clock
from notifications.core.models import BulkJob
from notifications.core.sweeps import loops
from notifications.core.sweeps.rounds import Swept
from notifications.features.audiences.rules.faults import ExpressionError
from notifications.features.bulk_jobs import changes, expand, progress, stages
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
    page = functools.partial(_one_page, limit=limit)
    return done + loops.in_turn(progress.running(), page, on_error=_note_error, ends_at=ends_at)


def _note_error(job: BulkJob, error: Exception) -> None:
    _log.exception("page_not_expanded", job=str(job.pk))
    progress.note_error(job, type(error).__name__)


def _one_page(job: BulkJob, *, limit: int) -> Swept:
    """Expand a page of the first range that is free and may go on; no move: nothing to do now.

    Raises:
        OperationalError: the database is away.
    """
    try:
        for part in stages.open_ranges(job, clock.now()):
            found = expand.expand_page(part, limit=limit)
            if found.read or found.is_range_done:
                progress.note_error(job, "")
                return Swept(max(1, found.accepted), more=True)
        progress.finish(job)
    except OperationalError as error:
        if not isinstance(error.__cause__, LockNotAvailable):
            raise
        _log.warning("bulk_job_locked", job=str(job.pk))
        return Swept()  # another process has the slots of the job: the next run goes on
    except TemplateGone:
        progress.pause(job, str(TemplateGone.__doc__))
        return Swept(failed=1)
    except ExpressionError as error:
        progress.pause(job, f"audience: {error}")
        return Swept(failed=1)
    return Swept()
