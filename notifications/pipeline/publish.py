"""Publish: hand the ids of queued deliveries to the broker.

Urgent ones are published by the process that accepted them, right after its commit. Everything
else, and whatever that process could not publish, is due in Postgres, and the relay takes it. So a
failure here is no error: `due_at` is near.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Sequence
from uuid import UUID

import structlog

from notifications import lanes
from notifications.rules.lane import Lane, Mode, Priority
from notifications.store.inserts import NewDelivery
from providers.contract import Channel

_log = structlog.get_logger(__name__)


def at_once(born: Iterable[NewDelivery]) -> None:
    """Publish what was stored as published. Never fails: the relay follows two seconds later."""
    by_lane: dict[Lane, list[UUID]] = defaultdict(list)
    for each in born:
        if each.is_published:
            lane = Lane(Mode(each.mode), Priority(each.priority), Channel(each.channel))
            by_lane[lane].append(each.id)
    for lane, delivery_ids in by_lane.items():
        if not publish(lane, lanes.chunks(delivery_ids, lane=lane)):
            return


def publish(lane: Lane, messages: Sequence[Sequence[UUID]]) -> bool:
    """Publish lists of ids on a lane; False when the broker did not take them all."""
    try:
        lanes.publish(lane, messages)
    except lanes.BrokerAway:
        _log.warning("publish_failed", lane=lane.name, messages=len(messages))
        return False
    return True
