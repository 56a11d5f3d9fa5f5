"""Sweeps that act on the due rows of one status: rescue, retry and recheck_unknown."""

from __future__ import annotations

import datetime as dt

from notifications.delivery import rescue
from notifications.rules.reasons import Reason
from notifications.rules.states import Status
from notifications.rules.transitions import REQUEUE
from notifications.scheduling import release
from notifications.sweeps import rounds
from notifications.sweeps.rounds import Due, Swept


def rescue_lost(*, now: dt.datetime, limit: int) -> Swept:
    """Settle or queue rows whose lease ran out; a row whose lease was renewed stays."""
    del now  # Postgres's clock decides what is due
    due = Due("rescue", Status.SENDING, limit)
    return rounds.work(due, lambda rows, _span: rescue.rescue(rows))


def retry(*, now: dt.datetime, limit: int) -> Swept:
    """Queue rows that are due for their next try and whose retry message did not come."""
    del now
    due = Due("retry", Status.RETRYING, limit, grace=rounds.retry_grace())
    return rounds.work(
        due, lambda rows, _span: release.back_to_queue(rows, REQUEUE, reason=Reason.RETRY_DUE)
    )


def recheck_unknown(*, now: dt.datetime, limit: int) -> Swept:
    """Queue urgent rows without an answer for their one resend, close the others."""
    del now
    due = Due("recheck_unknown", Status.UNKNOWN, limit)
    return rounds.work(due, lambda rows, _span: rescue.reconsider(rows))
