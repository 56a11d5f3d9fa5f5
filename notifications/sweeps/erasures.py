"""Erasures: delete the notifications and inboxes of erased recipients."""

from __future__ import annotations

import datetime as dt
from typing import Final

from notifications import clock
from notifications.models import ErasureJob
from notifications.store.inbox import writes
from notifications.store.postgres import erasure
from notifications.sweeps import rounds
from notifications.sweeps.rounds import Swept

_JOBS: Final = 20
"""Number of unfinished jobs processed in turn, oldest first."""


def run_once(*, now: dt.datetime, limit: int) -> Swept:
    """Process unfinished jobs in turn: the inbox, and `limit` notifications of each at a time.

    Safe to run twice. A job without remaining rows gets a receipt, which ends the job. A job waits
    while a day is frozen, because the rows of the day are out of reach until the day is dropped.
    """
    ends_at, moved = rounds.deadline(), 0
    while True:
        jobs = erasure.open_jobs(limit=_JOBS)
        removed = sum(_work_off(job, now, limit) for job in jobs)
        moved += removed
        if not removed:
            return Swept(moved)
        if clock.monotonic() >= ends_at:
            return Swept(moved, more=True)


def _work_off(job: ErasureJob, now: dt.datetime, limit: int) -> int:
    items = writes.erase(job.recipient_id)
    return items + erasure.work_off(job, now=now, limit=limit, inbox_items=items)
