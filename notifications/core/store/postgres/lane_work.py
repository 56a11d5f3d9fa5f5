"""The work of each lane for operators: due, in flight, and waiting behind a hold, by reason.

All counts are bounded, and days without a row that is due soon are left out, so a backlog of
millions and a long history do not slow the queries down.
"""

from __future__ import annotations

import datetime as dt
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any, Final

from notifications.core.rules import ids, reasons
from notifications.core.rules.lane import LANES, Lane, Mode
from notifications.core.rules.reasons import Reason
from notifications.core.rules.states import Status
from notifications.core.store.postgres import backlog, db, id_ranges

COUNTED: Final = 1_000
"""Upper bound of the count for each lane, status and span of days."""
_NONE: Final = dt.timedelta(0)

WAITING_COUNTED: Final = 1_000
_WAITING_STATUSES: Final = [int(Status.SCHEDULED), int(Status.RETRYING)]
_LIVE_LANES: Final = [lane for lane in LANES if lane.mode is Mode.LIVE]
FAULTS: Final = frozenset({
    *(Reason.BREAKER, Reason.ENDPOINT, Reason.NO_PROVIDER, Reason.PROVIDER_MISCONFIGURED),
    *(Reason.CAP_UNKNOWN, Reason.THROTTLED, Reason.UNAVAILABLE, Reason.UNANSWERED),
})
"""Reasons that a provider or this service causes; the other reasons are wishes and limits."""


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
    """The waiting deliveries of a lane by reason."""

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


def holds_by_reason() -> list[Held]:
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


@dataclass(frozen=True, slots=True, kw_only=True)
class Waiting:
    """The waiting deliveries of a lane by reason."""

    lane: Lane
    reason: str
    deliveries: int
    """At most WAITING_COUNTED for each status."""
    is_bounded: bool
    """True: the lane has more waiting deliveries than were counted."""
    since: dt.datetime
    """Acceptance of the oldest delivery."""
    next_at: dt.datetime
    """The next due time."""

    @property
    def is_fault(self) -> bool:
        """True if a failure causes the wait."""
        return self.reason in FAULTS

    @property
    def sentence(self) -> str:
        """The reason in words."""
        return reasons.sentence(self.reason or Reason.SCHEDULED)


def waiting_by_reason() -> list[Waiting]:
    """Return the waits, faults first, then urgent lanes first.

    The number is bounded: of each lane and status, the WAITING_COUNTED deliveries that come due
    first are read. Deliveries accepted before yesterday count from 15 seconds before
    their due time.
    """
    asked = {
        "statuses": _WAITING_STATUSES,
        "counted": WAITING_COUNTED,
        "modes": [lane.mode for lane in _LIVE_LANES],
        "priorities": [lane.priority for lane in _LIVE_LANES],
        "channels": [lane.channel for lane in _LIVE_LANES],
    }
    found: dict[tuple[Lane, str], Waiting] = {}
    for span in id_ranges.current():
        rows = db.rows("waiting", {**span, **asked})
        totals: dict[tuple[int, int, int], int] = {}
        for row in rows:
            part = row["priority"], row["channel"], row["status"]
            totals[part] = totals.get(part, 0) + row["deliveries"]
        for row in rows:
            lane = Lane.of(row["mode"], row["priority"], row["channel"])
            each = Waiting(
                lane=lane,
                reason=row["reason"],
                deliveries=row["deliveries"],
                is_bounded=totals[row["priority"], row["channel"], row["status"]]
                >= WAITING_COUNTED,
                since=ids.time_of(row["oldest"]),
                next_at=row["next_at"],
            )
            key = lane, each.reason
            found[key] = _sum(found[key], each) if key in found else each
    return sorted(found.values(), key=lambda each: (not each.is_fault, each.lane, each.since))


def _sum(one: Waiting, other: Waiting) -> Waiting:
    return replace(
        one,
        deliveries=one.deliveries + other.deliveries,
        is_bounded=one.is_bounded or other.is_bounded,
        since=min(one.since, other.since),
        next_at=min(one.next_at, other.next_at),
    )
