"""Expiry: end due rows that no worker has taken within their time to live.

The gate of a claim looks at the time to live, and so does the relay for a row that it publishes
again. A lane that is paused, has no worker or waits for its providers' rate has rows that are due
and meet neither. A run examines PAGES pages of each such lane and goes on behind them in the next
run, so the cost of a run does not grow with the backlog: of a million rows each is examined once an
hour.

Safe to run twice, late or never: the place in the lane is only of this process, and a worker
expires the rows that it claims.
"""

from __future__ import annotations

import datetime as dt
from typing import Final
from uuid import UUID

import structlog

from notifications.core.delivery import unclaimed
from notifications.core.rules.lane import Lane
from notifications.core.rules.states import Status
from notifications.core.rules.suspects import POISON_AFTER
from notifications.core.store.postgres import db, id_ranges
from notifications.core.store.postgres.id_ranges import Span
from notifications.core.sweeps import rounds
from notifications.core.sweeps.rounds import Swept

_log = structlog.get_logger(__name__)

GRACE: Final = dt.timedelta(seconds=15)
"""A due row of a healthy lane is published within two seconds."""
_PAGES: Final = 6
_DETAIL: Final = "no worker took it in time"

_Place = tuple[dt.datetime, UUID]
_places: Final[dict[tuple[Lane, UUID], _Place]] = {}
"""Last examined row by lane and start of the span."""


def run_once(*, now: dt.datetime, limit: int) -> Swept:
    """Expire rows in pages of `limit`; counts the ended rows."""
    del now  # Postgres's clock decides
    done = Swept()
    for span in id_ranges.current():
        for lane in rounds.lanes_due(Status.QUEUED, span, within=-GRACE):
            try:
                done += _look_at(lane, span, limit=limit)
            except rounds.DATABASE_TROUBLE as error:
                _log.warning("lane_not_swept", sweep="expiry", lane=lane.name, error=str(error))
                done += Swept(failed=1)
    return done


def _look_at(lane: Lane, span: Span, *, limit: int) -> Swept:
    key, ended = (lane, span["floor"]), 0
    for _ in range(_PAGES):
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
        "grace": GRACE,
        "since": since,
        "last": last,
        "limit": limit,
    }
