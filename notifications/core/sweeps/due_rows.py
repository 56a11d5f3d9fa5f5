"""Sweeps over due rows of a status: rescue, retry, recheck_unknown, and ends of confirm windows."""

from __future__ import annotations

import datetime as dt
from collections.abc import Callable, Sequence
from functools import partial
from typing import Any

from notifications.core.delivery import confirm, fall_back, rescue
from notifications.core.rules.reasons import Reason
from notifications.core.rules.states import Status
from notifications.core.rules.transitions import REQUEUE
from notifications.core.scheduling import release
from notifications.core.store.postgres.id_ranges import Span
from notifications.core.sweeps import rounds
from notifications.core.sweeps.rounds import Act, Due, Swept


def rescue_lost(*, now: dt.datetime, limit: int) -> Swept:
    """Settle or queue rows with an expired lease; rows with a renewed lease stay."""
    del now  # Postgres's clock decides what is due
    due = Due("rescue", Status.SENDING, limit)
    return rounds.work(due, _on_free_rows(rescue.rescue))


def retry(*, now: dt.datetime, limit: int) -> Swept:
    """Queue rows due for a retry after a loss of their retry message."""
    del now
    due = Due("retry", Status.RETRYING, limit, grace=rounds.retry_grace())
    return rounds.work(
        due, lambda rows, _span: release.requeue(rows, REQUEUE, reason=Reason.RETRY_DUE)
    )


def end_confirm_windows(*, limit: int, ends_at: float | None = None) -> Swept:
    """Open the next channel for deliveries without a receipt in their confirm window.

    The sweep `release` calls this function, because a further task each second would cost the
    broker eight commands a second.
    """
    due = Due("release", Status.SENT, limit)
    act = _on_free_rows(partial(confirm.end_windows, status=Status.SENT))
    return rounds.work(due, act, ends_at=ends_at)


def recheck_unknown(*, now: dt.datetime, limit: int) -> Swept:
    """Queue unanswered P0 and P1 for a single resend, and close other unanswered rows."""
    del now
    due = Due("recheck_unknown", Status.UNKNOWN, limit)
    return rounds.work(due, _on_free_rows(rescue.resend_or_close))


def _on_free_rows(act: Callable[[Sequence[Any]], int]) -> Act:
    """Return `act` for rows without chains that another transaction has locked."""

    def on_free_rows(rows: Sequence[Any], _span: Span) -> int:
        free = fall_back.free_rows(rows)
        return act(free) if free else 0

    return on_free_rows
