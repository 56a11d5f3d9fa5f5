"""Retry: rows that are due for their next try and whose retry message did not come."""

from __future__ import annotations

import datetime as dt

from notifications.pipeline import release
from notifications.rules.reasons import Reason
from notifications.rules.states import Status
from notifications.rules.transitions import REQUEUE
from notifications.sweeps import rounds
from notifications.sweeps.rounds import Due, Swept


def run_once(*, now: dt.datetime, limit: int) -> Swept:
    """Queue them again."""
    del now  # Postgres's clock decides what is due
    due = Due("retry", Status.RETRYING, limit, grace=rounds.retry_grace())
    return rounds.work(
        due, lambda rows, _span: release.back_to_queue(rows, REQUEUE, reason=Reason.RETRY_DUE)
    )
