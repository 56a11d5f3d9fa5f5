"""Reach of the last three days, counted from the notifications (`rules.reach`).

Three days hold the result of each priority: a P3 expires after two days, and an unanswered call is
closed after one. The roll-ups count deliveries, so this figure reads notifications: at most about
PAGES pages of the table, chosen at random, so the cost does not grow with the traffic. A smaller
installation is counted completely. Safe to run at any time: a count changes nothing.
"""

from __future__ import annotations

import datetime as dt
from collections.abc import Iterator, Mapping
from typing import Any, Final

from notifications.core.delivery import routing
from notifications.core.rules import ids, reach, reasons
from notifications.core.rules.lane import Mode, Priority
from notifications.core.rules.reach import Reach, ReachCounts
from notifications.core.rules.reasons import Reason
from notifications.core.rules.states import OPEN, Status
from notifications.core.store.postgres import db

PAGES: Final = 1_000
"""Pages of 8 KiB. 1,000 of 53,000 pages, with 24,000 notifications, took Postgres 0.1 s of CPU."""
_DAY: Final = dt.timedelta(days=1)
_PARAMETERS: Final[Mapping[str, Any]] = {
    "mode": int(Mode.LIVE),
    "arrived": sorted(reach.ARRIVED),
    "sent": int(Status.SENT),
    "open": sorted(OPEN),
    "taken": sorted(reach.TAKEN),
    "given_up": sorted(reach.GIVEN_UP),
    "no_failure": sorted(reasons.REFUSED | reach.NOT_TRIED | {Reason.ESCALATED}),
    "refused": sorted(reasons.REFUSED),
    "suppressed": int(Status.SUPPRESSED),
    "stale": Reason.STALE.value,
    "bounced": int(Status.BOUNCED),
    "failed": int(Status.FAILED),
}


def count(*, now: dt.datetime, pages: int = PAGES) -> Reach:
    """Count the notifications accepted within `reach.WINDOW`, in about so many pages."""
    of, recent = {each: ReachCounts() for each in Priority}, ReachCounts()
    percent = 100.0
    for row in _rows(now, pages):
        result, percent = reach.RESULTS[row["result"]], row["percent"]
        of[Priority(row["priority"])][result] += row["found"]
        if row["is_recent"]:
            recent[result] += row["found"]
    return Reach(of=of, recent=recent, percent=percent)


def _rows(now: dt.datetime, pages: int) -> Iterator[dict[str, Any]]:
    """Read each day by a statement of its own, which is planned for one partition."""
    days = [now.date() - day * _DAY for day in range(reach.WINDOW.days + 1)]
    asked = {
        "pages": pages,
        "partitions": [f"notification_{day:%Y%m%d}" for day in days],
        "recent": ids.floor_at(now - reach.RECENT),
        "without_receipts": _without_receipts(),
    }
    for day in days:
        span = {
            "floor": max(ids.floor_of(day), ids.floor_at(now - reach.WINDOW)),
            "ceiling": min(ids.floor_of(day + _DAY), ids.floor_at(now)),
        }
        yield from db.rows("reach", {**_PARAMETERS, **asked, **span})


def _without_receipts() -> list[str]:
    """Return the configured providers of which no receipt can come; a dry run is none."""
    return [
        name
        for name, provider in routing.providers_by_name().items()
        if not provider.capabilities.gives_receipts
    ]
