"""Sweeps over due rows of a status: rescue, retry, confirm and recheck_unknown."""

from __future__ import annotations

import datetime as dt

from notifications.delivery import confirm, rescue
from notifications.rules.reasons import Reason
from notifications.rules.states import Status
from notifications.rules.transitions import REQUEUE
from notifications.scheduling import release
from notifications.sweeps import rounds
from notifications.sweeps.rounds import Due, Swept


def rescue_lost(*, now: dt.datetime, limit: int) -> Swept:
    """Settle or queue rows whose lease expired; rows with a renewed lease stay."""
    del now  # Postgres's clock decides what is due
    due = Due("rescue", Status.SENDING, limit)
    return rounds.work(due, lambda rows, _span: rescue.rescue(rows))


def retry(*, now: dt.datetime, limit: int) -> Swept:
    """Queue rows due for a retry whose retry message was lost."""
    del now
    due = Due("retry", Status.RETRYING, limit, grace=rounds.retry_grace())
    return rounds.work(
        due, lambda rows, _span: release.requeue(rows, REQUEUE, reason=Reason.RETRY_DUE)
    )


def end_confirm_windows(*, now: dt.datetime, limit: int) -> Swept:
    """Open the next channel for deliveries without a receipt in their confirm window."""
    del now
    due = Due("confirm", Status.SENT, limit)
    return rounds.work(due, lambda rows, _span: confirm.end_windows(rows, status=Status.SENT))


def recheck_unknown(*, now: dt.datetime, limit: int) -> Swept:
    """Queue unanswered P0 and P1 for a single resend, and close other unanswered rows."""
    del now
    due = Due("recheck_unknown", Status.UNKNOWN, limit)
    return rounds.work(due, lambda rows, _span: rescue.resend_or_close(rows))
