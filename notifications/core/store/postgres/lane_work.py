"""The work of each lane for operators: due, in flight, and waiting behind a hold, by reason.

All counts are bounded, and days without a row that is due soon are left out, so a backlog of
millions and a long history do not slow the queries down.
"""

from __future__ import annotations

import datetime as dt
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Final

from notifications.core.rules import ids
from notifications.core.rules.lane import Lane
from notifications.core.rules.states import Status
from notifications.core.store.postgres import backlog, db, id_ranges

COUNTED: Final = 1_000
"""Upper bound of the count for each lane, status and span of days."""
_NONE: Final = dt.timedelta(0)


@dataclass(frozen=True, slots=True, kw_only=True)
class LaneWork:
    """The rows of a lane."""

    lane: Lane
    due: int = 0
    """Due deliveries without a claim; at most `backlog.COUNTED` for each status."""
    behind: dt.timedelta = _NONE
    """Time since the oldest due time."""
    in_flight: int = 0
    """Claimed deliveries; at most COUNTED for each span of days."""
    oldest_call: dt.timedelta = _NONE
    """Time since the start of the oldest call."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Held:
    """The deliveries of a lane that wait for one reason."""

    lane: Lane
    reason: str
    deliveries: int
    is_capped: bool
    """Further deliveries of the lane wait and were not read."""
    age: dt.timedelta
    """Time since the acceptance of the oldest one."""


def of_lanes() -> list[LaneWork]:
    """Return the lanes with due or claimed rows, urgent lanes first."""
    due = {each.lane: each for each in backlog.of_lanes()}
    busy: Counter[Lane] = Counter()
    oldest: dict[Lane, dt.timedelta] = {}
    for row in _rows("lanes_in_flight", {"sending": Status.SENDING}):
        lane = Lane.of(row["mode"], row["priority"], row["channel"])
        busy[lane] += row["deliveries"]
        if row["oldest_call"] is not None:
            oldest[lane] = max(row["now"] - row["oldest_call"], oldest.get(lane, _NONE))
    return [
        LaneWork(
            lane=lane,
            due=due[lane].due if lane in due else 0,
            behind=due[lane].behind if lane in due else _NONE,
            in_flight=busy[lane],
            oldest_call=oldest.get(lane, _NONE),
        )
        for lane in sorted({*due, *busy})
    ]


def held() -> list[Held]:
    """Return the waiting deliveries by lane and reason, urgent lanes first."""
    statuses = [int(Status.SCHEDULED), int(Status.RETRYING)]
    counts: Counter[tuple[Lane, str]] = Counter()
    read: Counter[Lane] = Counter()
    ages: dict[tuple[Lane, str], dt.timedelta] = {}
    for row in _rows("lanes_held", {"statuses": statuses}):
        lane = Lane.of(row["mode"], row["priority"], row["channel"])
        key = lane, row["reason"]
        counts[key] += row["deliveries"]
        read[lane] += row["deliveries"]
        age = row["now"] - ids.time_of(row["first_id"])
        ages[key] = max(age, ages.get(key, _NONE))
    return [
        Held(
            lane=lane,
            reason=reason,
            deliveries=counts[lane, reason],
            is_capped=read[lane] >= COUNTED,
            age=ages[lane, reason],
        )
        for lane, reason in sorted(counts)
    ]


def _rows(name: str, parameters: dict[str, object]) -> Sequence[dict[str, Any]]:
    asked = {**id_ranges.LANE_COLUMNS, **parameters, "counted": COUNTED}
    return [row for span in id_ranges.current() for row in db.rows(name, {**asked, **span})]
