"""Replays: work off open replay jobs in turns, so that none waits until another is done."""

from __future__ import annotations

import datetime as dt
from typing import Final

from notifications import clock
from notifications.models import ReplayJob
from notifications.pipeline import replay
from notifications.sweeps import rounds
from notifications.sweeps.rounds import Swept

_JOBS: Final = 20
"""Open jobs that take turns, the oldest; the others wait until one of them is done."""


def run_once(*, now: dt.datetime, limit: int) -> Swept:
    """Replay letters of the open jobs, `limit` of each at a time.

    Twice is once: letters are locked and closed. Several processes share a job's letters.
    """
    del now  # a letter's age does not matter
    ends_at, moved = rounds.deadline(), 0
    while True:
        jobs = ReplayJob.objects.filter(finished_at=None).order_by("id")[:_JOBS]
        worked = sum(replay.run(job, limit=limit) for job in jobs)
        moved += worked
        if not worked:
            return Swept(moved)
        if clock.monotonic() >= ends_at:
            return Swept(moved, more=True)
