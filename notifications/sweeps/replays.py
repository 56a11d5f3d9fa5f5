"""Replays: work off the oldest open replay jobs, a bounded number of letters a round."""

from __future__ import annotations

import datetime as dt

from notifications.models import ReplayJob
from notifications.pipeline import replay
from notifications.sweeps.rounds import Swept


def run_once(*, now: dt.datetime, limit: int) -> Swept:
    """Replay up to `limit` letters of the oldest open job.

    Twice is once: letters are locked and closed.
    """
    del now  # a letter's age does not matter
    job = ReplayJob.objects.filter(finished_at=None).order_by("id").first()
    return Swept(replay.run(job, limit=limit) if job else 0)
