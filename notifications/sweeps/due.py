"""Due: the one sweep over `due_at`.

Acts by status, with a limit for each status and lane, P0 first.

    sending    the lease ran out              rescue
    unknown    resend once, or close          rescue
    retrying   its retry message did not come  back to queued
    scheduled  its time has come              resolve contacts, or back to queued;
                                              of what a cap held, one digest
    queued     publish, no faster than its lane drains
"""

from __future__ import annotations

import datetime as dt
from typing import Any, Final

from notifications import clock
from notifications.pipeline import digest, release, rescue
from notifications.rules.lane import LANES
from notifications.rules.states import Status
from notifications.store import db, partitions
from notifications.sweeps import relay

_GRACE_FOR_RETRY: Final = dt.timedelta(seconds=5)
"""How long the retry message goes first: it is the quicker way, and the sweep only the sure one."""
_NO_GRACE: Final = dt.timedelta(0)
_HELD_ROUNDS: Final = 6
"""Batches of held rows in one run: what waited for one morning must not wait for the sweep."""
_FLOOR_HOLDS: Final = 60.0
"""Seconds that the sweep's lower bound is believed."""


class _Bounds:
    """The id range in which anything can be due, so that a hundred days of history cost nothing."""

    def __init__(self) -> None:
        self._found_at = float("-inf")
        self._range: dict[str, Any] = {}

    def current(self) -> dict[str, Any]:
        if clock.monotonic() - self._found_at > _FLOOR_HOLDS:
            self._range = {"floor": partitions.open_since(), "ceiling": partitions.open_until()}
            self._found_at = clock.monotonic()
        return self._range


_bounds = _Bounds()
LANE_COLUMNS: Final = {
    "modes": [lane.mode for lane in LANES],
    "priorities": [lane.priority for lane in LANES],
    "channels": [lane.channel for lane in LANES],
}


def run_once(*, now: dt.datetime, limit: int) -> int:
    """One round over all statuses; returns how many rows moved or were published."""
    bounds = _bounds.current()
    moved = 0
    if rows := _due(Status.SENDING, bounds, limit):
        moved += rescue.rescue(rows)
    if rows := _due(Status.UNKNOWN, bounds, limit):
        moved += rescue.reconsider(rows)
    if rows := _due(Status.RETRYING, bounds, limit, grace=_GRACE_FOR_RETRY):
        moved += release.back_to_queue(rows, reason="retry_due")
    if rows := _due(Status.SCHEDULED, bounds, limit):
        moved += _release(rows, bounds, limit)
    return moved + relay.run_once(bounds, now=now)


def _release(rows: list[dict[str, Any]], bounds: dict[str, Any], limit: int) -> int:
    moved = release.resolve([row for row in rows if row["contact_id"] is None])
    for _ in range(_HELD_ROUNDS):
        # A short hold has its own message on the way, like a retry.
        due = _due(Status.SCHEDULED, bounds, limit, grace=_GRACE_FOR_RETRY)
        held = [row for row in due if row["contact_id"] is not None]
        merged = digest.merge(held, bounds=bounds)
        held = [row for row in held if row["id"] not in merged]
        moved += len(merged) + release.back_to_queue(held, reason="hold_over")
        if len(due) < limit:
            break
    return moved


def _due(
    status: Status, bounds: dict[str, Any], limit: int, *, grace: dt.timedelta = _NO_GRACE
) -> list[dict[str, Any]]:
    return db.rows(
        "due", {**LANE_COLUMNS, **bounds, "status": status, "grace": grace, "limit": limit}
    )
