"""Rescue: rows whose lease ran out, because their worker died or stands still."""

from __future__ import annotations

import datetime as dt

from notifications.pipeline import rescue
from notifications.rules.states import Status
from notifications.sweeps import rounds
from notifications.sweeps.rounds import Due, Swept


def run_once(*, now: dt.datetime, limit: int) -> Swept:
    """Settle or queue them again. Twice is once: a lease that was renewed stays as it is."""
    del now  # Postgres's clock decides what is due
    due = Due("rescue", Status.SENDING, limit)
    return rounds.work(due, lambda rows, _span: rescue.rescue(rows))
