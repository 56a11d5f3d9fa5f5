"""Relay: publish queued rows that are due, lane by lane.

It also notices when the broker has lost what it had: rows that were published and never claimed
while nothing is ready in their lane. That one sign covers a wiped, restarted or restored broker.

Never more than a few messages wait in a lane (`room`): the rest waits as rows, where it costs
nothing, survives a wiped broker, and can still be cancelled. `due_at` is moved and committed before
the publish, so two relays never publish one row at once; a publish that fails makes its rows due
again.
"""

from __future__ import annotations

import datetime as dt
from collections import defaultdict
from collections.abc import Mapping
from typing import Any, Final
from uuid import UUID

import structlog

from notifications import clock, lanes
from notifications.pipeline import publish
from notifications.rules.lane import LANES, Lane, Mode, Priority
from notifications.rules.states import Status
from notifications.store import db
from notifications.store.moves import SUSPECT_AFTER
from notifications.sweeps import room
from providers.contract import Channel

_log = structlog.get_logger(__name__)

_LOST_AFTER: Final = dt.timedelta(seconds=15)
"""A published row that nobody claimed for this long, in a lane with nothing ready, was lost."""
_LOOK_EVERY: Final = 15.0
"""Seconds between two looks for lost rows in one lane."""
_AGAIN_LIMIT: Final = 20_000
"""Lost rows made due in one look."""

_looked_at: dict[str, float] = {}


def run_once(bounds: Mapping[str, Any], *, now: dt.datetime) -> int:
    """Publish what is due and fits; returns how many ids were published."""
    del now  # due is what Postgres's clock says
    waiting = _waiting(bounds)
    if not waiting:
        return 0
    try:
        depths = lanes.depths([lane.name for lane in waiting])
    except lanes.BrokerAway:
        _log.warning("broker_away", waiting_lanes=len(waiting))
        return 0
    for lane in waiting:
        if depths[lane.name] == 0:
            _make_lost_due(lane, bounds)
    return _publish(room.of({lane: depths[lane.name] for lane in waiting}), bounds)


def _waiting(bounds: Mapping[str, Any]) -> list[Lane]:
    rows = db.rows("waiting_lanes", {**_columns(LANES), **bounds, "queued": Status.QUEUED})
    return sorted(map(_lane, rows))


def _publish(rooms: Mapping[Lane, int], bounds: Mapping[str, Any]) -> int:
    parameters = {**bounds, "room": list(rooms.values()), "queued": Status.QUEUED}
    rows = db.alone("publish", {**_columns(rooms), **parameters})
    by_lane: dict[Lane, list[dict[str, Any]]] = defaultdict(list)
    for row in rows:
        by_lane[_lane(row)].append(row)
    published = 0
    for lane in sorted(by_lane):
        # What was claimed in vain leaves alone, one a tick: it may be what kills its worker, and
        # an innocent suspect beside it would die with it once more.
        suspects = [row["id"] for row in by_lane[lane] if row["claims"] >= SUSPECT_AFTER]
        others = [row["id"] for row in by_lane[lane] if row["claims"] < SUSPECT_AFTER]
        now, later = [*others, *suspects[:1]], suspects[1:]
        messages = [*lanes.chunks(others, lane=lane), *([each] for each in suspects[:1])]
        if publish.publish(lane, messages):
            published += len(now)
            room.used(lane, len(now))
        else:
            later += now
        if later:
            _make_due(later)
    return published


def _make_due(delivery_ids: list[UUID]) -> None:
    db.run("due_now", {"ids": delivery_ids, "queued": Status.QUEUED})


def _make_lost_due(lane: Lane, bounds: Mapping[str, Any]) -> None:
    moment = clock.monotonic()
    if moment - _looked_at.get(lane.name, float("-inf")) < _LOOK_EVERY:
        return
    _looked_at[lane.name] = moment
    lost = db.run(
        "publish_again",
        {
            **bounds,
            "queued": Status.QUEUED,
            "mode": lane.mode,
            "priority": lane.priority,
            "channel": lane.channel,
            "older_than": _LOST_AFTER,
            "limit": _AGAIN_LIMIT,
        },
    )
    if lost:
        _log.warning("lost_by_broker", lane=lane.name, count=lost)


def _columns(wanted: Mapping[Lane, int] | tuple[Lane, ...]) -> dict[str, list[int]]:
    return {
        "modes": [lane.mode for lane in wanted],
        "priorities": [lane.priority for lane in wanted],
        "channels": [lane.channel for lane in wanted],
    }


def _lane(row: Mapping[str, Any]) -> Lane:
    return Lane(Mode(row["mode"]), Priority(row["priority"]), Channel(row["channel"]))
