"""Erasures: delete the notifications of erased recipients."""

from __future__ import annotations

import datetime as dt
from typing import Final

from notifications import clock
from notifications.store.postgres import erasure
from notifications.sweeps import rounds
from notifications.sweeps.rounds import Swept

_JOBS: Final = 20
"""Number of unfinished jobs processed in turn, oldest first."""


def run_once(*, now: dt.datetime, limit: int) -> Swept:
    """Process unfinished jobs in turn, `limit` notifications of each at a time.

    Safe to run twice. A job without remaining rows is finished.
    """
    ends_at, moved = rounds.deadline(), 0
    while True:
        jobs = erasure.open_jobs(limit=_JOBS)
        removed = sum(erasure.work_off(job, now=now, limit=limit) for job in jobs)
        moved += removed
        if not removed:
            return Swept(moved)
        if clock.monotonic() >= ends_at:
            return Swept(moved, more=True)
