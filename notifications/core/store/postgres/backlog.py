"""Backlog: the lag of each lane, and open dead letters by reason.

The lag of a lane is the number of due rows without a worker, and the age of the oldest. All days
with due rows are read by one statement. Counts are bounded, so that a backlog of millions does not
slow the query down; `estimate` gives the size of a larger backlog from a sample of the table.
"""

from __future__ import annotations

import datetime as dt
from collections import Counter
from collections.abc import Collection
from dataclasses import dataclass, replace
from typing import Final

from notifications.core.rules import ids
from notifications.core.rules.lane import Lane, Mode
from notifications.core.rules.states import Status
from notifications.core.store.postgres import db, id_ranges, partitions

COUNTED: Final = 10_000
"""Upper bound of the count per lane and status; the bound for dead letters is ten times larger."""
_WAITING: Final = (Status.SCHEDULED, Status.QUEUED, Status.RETRYING)
_STATUSES: Final = [int(status) for status in _WAITING]
_FRONT: Final = 64
"""First rows of a queue that are read for the age of the oldest. The front of a fair queue has the
oldest row of each producer, so a producer's newest row at the front hides no older row."""
_SAMPLED_PAGES: Final = 4_000
"""Pages of 8 kB that an estimate reads: a lane with a tenth of the rows is met within some 5 %."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Backlog:
    """The lag of a lane."""

    lane: Lane
    due: int
    """Due deliveries without a claim."""
    behind: dt.timedelta
    """Time since the oldest could leave."""
    is_bounded: bool = False
    """More deliveries are due than were counted."""
    is_estimate: bool = False
    """The number is from a sample of the table."""


def of_lanes(*, counted: int = COUNTED) -> list[Backlog]:
    """Return the lanes with due rows, urgent lanes first; counts up to `counted` by status."""
    due: Counter[Lane] = Counter()
    bounded: set[Lane] = set()
    behind: dict[Lane, dt.timedelta] = {}
    asked = {"statuses": _STATUSES, "counted": counted, "front": _FRONT}
    for row in db.rows("backlog_lanes", {**id_ranges.LANE_COLUMNS, **id_ranges.whole(), **asked}):
        lane = Lane.of(row["mode"], row["priority"], row["channel"])
        due[lane] += row["due"]
        if row["due"] >= counted:
            bounded.add(lane)
        # A row that its producer's share puts before others is due since before it was born.
        since = min(
            max(due_at, ids.time_of(row_id))
            for row_id, due_at in zip(row["ids"], row["due_at"], strict=True)
        )
        late = row["now"] - since
        behind[lane] = max(late, behind.get(lane, late))
    return [
        Backlog(lane=lane, due=due[lane], behind=behind[lane], is_bounded=lane in bounded)
        for lane in sorted(due)
    ]


def estimate(lanes: Collection[Backlog]) -> list[Backlog]:
    """Replace bounded counts by an estimate; other lanes stay as they are."""
    if not any(each.is_bounded for each in lanes):
        return list(lanes)
    span = id_ranges.whole()
    first, end = ids.day_of(span["floor"]), ids.day_of(span["ceiling"])
    names = [f"delivery_{day:%Y%m%d}" for day in partitions.existing() if first <= day < end]
    [size] = db.rows("delivery_pages", {"partitions": names})
    share = min(1.0, _SAMPLED_PAGES / max(1, size["pages"]))
    asked = {**span, "statuses": _STATUSES, "percent": 100 * share}
    found = {
        Lane.of(row["mode"], row["priority"], row["channel"]): round(row["found"] / share)
        for row in db.rows("backlog_estimate", asked)
    }
    return [
        replace(each, due=max(each.due, found.get(each.lane, 0)), is_estimate=share < 1)
        if each.is_bounded
        else each
        for each in lanes
    ]


def dead_letters() -> dict[str, int]:
    """Open dead letters of live mode by reason."""
    found = db.rows("backlog_dead_letters", {"mode": int(Mode.LIVE), "counted": 10 * COUNTED})
    return {row["reason"]: row["letters"] for row in found}
