"""Sweeps over due rows: rescue, retry, expiry, ordering, unknown rows, ends of confirm windows."""

from __future__ import annotations

import datetime as dt
from collections.abc import Callable, Sequence
from functools import partial
from typing import Any, Final
from uuid import UUID

import structlog
from django.db import transaction

from notifications.core.delivery import confirm, fall_back, rescue, unclaimed
from notifications.core.rules.lane import Lane
from notifications.core.rules.reasons import Reason
from notifications.core.rules.states import Status
from notifications.core.rules.suspects import POISON_AFTER
from notifications.core.rules.transitions import REQUEUE
from notifications.core.scheduling import release
from notifications.core.store.postgres import db, id_ranges, ordering_queues
from notifications.core.store.postgres.id_ranges import Span
from notifications.core.sweeps import loops, rounds
from notifications.core.sweeps.rounds import Act, Due, Swept

_log = structlog.get_logger(__name__)

EXPIRY_GRACE: Final = dt.timedelta(seconds=15)
"""A due row of a healthy lane is published within two seconds."""
_EXPIRY_PAGES: Final = 6
_DETAIL: Final = "no worker took it in time"

_Place = tuple[dt.datetime, UUID]
_places: Final[dict[tuple[Lane, UUID], _Place]] = {}
"""Last examined row by lane and start of the span."""


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


def advance_ordering(*, now: dt.datetime, limit: int) -> Swept:
    """Check due ordering keys; counts the published deliveries. Safe at any time."""
    del now  # Postgres's clock decides
    done = loops.repeat(partial(_advance_ordering, limit=limit))
    return done + Swept(ordering_queues.trim(limit=limit))


def _advance_ordering(*, limit: int) -> Swept:
    with transaction.atomic():
        looked, woken = ordering_queues.advance_due(limit=limit)
    return Swept(woken, more=looked >= limit)


def expire(*, now: dt.datetime, limit: int) -> Swept:
    """Expire rows in pages of `limit`; counts the ended rows.

    The gate of a claim looks at the time to live, and so does the relay for a row that it publishes
    again. A lane that is paused, has no worker or waits for its providers' rate has rows that are
    due and meet neither. A run examines _EXPIRY_PAGES pages of each such lane and goes on behind
    them in the next run, so the cost of a run does not grow with the backlog: of a million rows
    each is examined once an hour.

    Safe to run twice, late or never: the place in the lane is only of this process, and a worker
    expires the rows that it claims.
    """
    del now  # Postgres's clock decides
    done = Swept()
    for span in id_ranges.current():
        for lane in rounds.lanes_due(Status.QUEUED, span, within=-EXPIRY_GRACE):
            try:
                done += _look_at(lane, span, limit=limit)
            except rounds.DATABASE_TROUBLE as error:
                _log.warning("lane_not_swept", sweep="expiry", lane=lane.name, error=str(error))
                done += Swept(failed=1)
    return done


def _look_at(lane: Lane, span: Span, *, limit: int) -> Swept:
    key, ended = (lane, span["floor"]), 0
    for _ in range(_EXPIRY_PAGES):
        since, last = _places.pop(key, (None, None))
        rows = db.rows("expired_waiting", _parameters(lane, span, since, last, limit))
        over = [row["id"] for row in rows if row["is_over"]]
        ended += unclaimed.expire(over, detail=_DETAIL)
        poison = [row["id"] for row in rows if row["claims"] >= POISON_AFTER and not row["is_over"]]
        ended += unclaimed.give_up(poison, detail=unclaimed.FIVE_CLAIMS)
        if len(rows) < limit:
            break
        _places[key] = (rows[-1]["due_at"], rows[-1]["id"])
    return Swept(ended)


def _parameters(
    lane: Lane, span: Span, since: dt.datetime | None, last: UUID | None, limit: int
) -> dict[str, object]:
    return {
        **span,
        "queued": Status.QUEUED,
        "mode": lane.mode,
        "priority": lane.priority,
        "channel": lane.channel,
        "grace": EXPIRY_GRACE,
        "since": since,
        "last": last,
        "limit": limit,
    }


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
    """Return `act` without the rows whose chain is locked by another transaction."""

    def on_free_rows(rows: Sequence[Any], _span: Span) -> int:
        free = fall_back.free_rows(rows)
        return act(free) if free else 0

    return on_free_rows
