"""Replays: work off the oldest open replay jobs, a bounded number of letters a round."""

from __future__ import annotations

import datetime as dt
from typing import Final

from notifications import clock
from notifications.models import ReplayJob
from notifications.pipeline import replay
from notifications.sweeps.rounds import Swept

_SECONDS: Final = 4.0
"""How long one run goes on: most of the time until the next."""


def run_once(*, now: dt.datetime, limit: int) -> Swept:
    """Replay letters of the oldest open job, `limit` at a time.

    Twice is once: letters are locked and closed.
    """
    del now  # a letter's age does not matter
    ends_at, moved = clock.monotonic() + _SECONDS, 0
    while True:
        job = ReplayJob.objects.filter(finished_at=None).order_by("id").first()
        last = replay.run(job, limit=limit) if job else 0
        moved += last
        if not last or clock.monotonic() >= ends_at:
            return Swept(moved)
