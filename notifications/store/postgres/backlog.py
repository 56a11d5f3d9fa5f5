"""Backlog: due rows without a worker, by lane, and open dead letters, by reason.

Counts are bounded, so that a backlog of millions does not slow the query down.
"""

from __future__ import annotations

import datetime as dt
from collections import Counter
from dataclasses import dataclass
from typing import Final

from notifications.rules import ids
from notifications.rules.lane import Lane, Mode
from notifications.rules.states import Status
from notifications.store.postgres import db, id_ranges

COUNTED: Final = 10_000
"""Upper bound of the count per lane and status; the bound for dead letters is ten times larger."""
_WAITING: Final = (Status.SCHEDULED, Status.QUEUED, Status.RETRYING)


@dataclass(frozen=True, slots=True, kw_only=True)
class Backlog:
    """The due rows of a lane."""

    lane: Lane
    due: int
    """Due deliveries without a claim; at most COUNTED for each status."""
    behind: dt.timedelta
    """Time since the oldest due time."""


def of_lanes() -> list[Backlog]:
    """Return the lanes with due rows, urgent ones first."""
    asked = {"statuses": [int(status) for status in _WAITING], "counted": COUNTED}
    due: Counter[Lane] = Counter()
    behind: dict[Lane, dt.timedelta] = {}
    for span in id_ranges.current():
        for row in db.rows("backlog_lanes", {**id_ranges.LANE_COLUMNS, **span, **asked}):
            lane = Lane.of(row["mode"], row["priority"], row["channel"])
            due[lane] += row["due"]
            # A row that its producer's share puts before others is due since before it was born.
            late = row["now"] - max(row["due_at"], ids.time_of(row["id"]))
            behind[lane] = max(late, behind.get(lane, late))
    return [Backlog(lane=lane, due=due[lane], behind=behind[lane]) for lane in sorted(due)]


def dead_letters() -> dict[str, int]:
    """Open dead letters of live mode by reason."""
    found = db.rows("backlog_dead_letters", {"mode": int(Mode.LIVE), "counted": 10 * COUNTED})
    return {row["reason"]: row["letters"] for row in found}
