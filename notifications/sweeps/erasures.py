"""Erasures: remove what was sent to people who were erased."""

from __future__ import annotations

import datetime as dt
from typing import Final

from notifications import clock
from notifications.store.postgres import erasure
from notifications.sweeps import rounds
from notifications.sweeps.rounds import Swept

_JOBS: Final = 20
"""Unfinished jobs that take turns, the oldest."""


def run_once(*, now: dt.datetime, limit: int) -> Swept:
    """Work off unfinished jobs in turns, `limit` notifications of each at a time.

    Twice is once: what is removed is gone. A job that finds nothing more is finished.
    """
    ends_at, moved = rounds.deadline(), 0
    while True:
        jobs = erasure.unfinished(limit=_JOBS)
        removed = sum(erasure.work_off(job, now=now, limit=limit) for job in jobs)
        moved += removed
        if not removed:
            return Swept(moved)
        if clock.monotonic() >= ends_at:
            return Swept(moved, more=True)
