"""Waiting deliveries of live mode by lane and reason: holds and retries, for operators.

The number is bounded: of each lane and status, the COUNTED deliveries that come due first are read.
Deliveries that were accepted before yesterday count from 15 seconds before their due time.
"""

from __future__ import annotations

import datetime as dt
from dataclasses import dataclass, replace
from typing import Final

from notifications.core.rules import ids, reasons
from notifications.core.rules.lane import LANES, Lane, Mode
from notifications.core.rules.reasons import Reason
from notifications.core.rules.states import Status
from notifications.core.store.postgres import db, id_ranges

COUNTED: Final = 1_000
_STATUSES: Final = [int(Status.SCHEDULED), int(Status.RETRYING)]
_LIVE: Final = [lane for lane in LANES if lane.mode is Mode.LIVE]
FAULTS: Final = frozenset({
    *(Reason.BREAKER, Reason.ENDPOINT, Reason.NO_PROVIDER, Reason.PROVIDER_MISCONFIGURED),
    *(Reason.CAP_UNKNOWN, Reason.THROTTLED, Reason.UNAVAILABLE, Reason.UNANSWERED),
})
"""Reasons that a provider or this service causes; the other reasons are wishes and limits."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Waiting:
    """The deliveries of a lane that wait for one reason."""

    lane: Lane
    reason: str
    deliveries: int
    """At most COUNTED for each status."""
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


def by_reason() -> list[Waiting]:
    """Return the waits, faults first, then urgent lanes first."""
    asked = {
        "statuses": _STATUSES,
        "counted": COUNTED,
        "modes": [lane.mode for lane in _LIVE],
        "priorities": [lane.priority for lane in _LIVE],
        "channels": [lane.channel for lane in _LIVE],
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
                is_bounded=totals[row["priority"], row["channel"], row["status"]] >= COUNTED,
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
