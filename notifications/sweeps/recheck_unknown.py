"""Recheck unknown: rows whose call nobody answered, when their time to be looked at has come."""

from __future__ import annotations

import datetime as dt

from notifications.pipeline import rescue
from notifications.rules.states import Status
from notifications.sweeps import rounds
from notifications.sweeps.rounds import Due, Swept


def run_once(*, now: dt.datetime, limit: int) -> Swept:
    """Queue urgent ones for their one resend, close the others."""
    del now  # Postgres's clock decides what is due
    due = Due("recheck_unknown", Status.UNKNOWN, limit)
    return rounds.work(due, lambda rows, _span: rescue.reconsider(rows))
