"""Publish: send messages for queued deliveries to the broker.

The process that inserts P0 and P1 publishes the ids after its commit: after the commit of the
outermost transaction, because a worker finds no row before, and a rolled-back row never. The relay
publishes messages for P2 and P3, and the ids of P0 and P1 after a failed publish. A failure is
harmless, because the rows are due within seconds.
"""

from __future__ import annotations

import datetime as dt
from collections import defaultdict
from collections.abc import Callable, Iterable, Mapping, Sequence
from contextlib import suppress
from functools import partial
from typing import Final
from uuid import UUID

import structlog
from django.db import Error, transaction

from notifications.core import lanes
from notifications.core.rules.lane import Lane
from notifications.core.rules.states import Status
from notifications.core.store.postgres import db, id_ranges
from notifications.core.store.postgres.id_ranges import Span
from notifications.core.store.postgres.inserts import NewDelivery

_log = structlog.get_logger(__name__)
FIRST_REPUBLISH: Final = dt.timedelta(seconds=2)
"""Delay after which the relay publishes P0 and P1 that no process could publish."""


def publish_new(deliveries: Iterable[NewDelivery]) -> None:
    """Publish rows stored as published, after the commit; unpublished rows become due now.

    Raises no error: the rows come due after two seconds in any case.
    """
    by_lane: dict[Lane, list[UUID]] = defaultdict(list)
    for each in deliveries:
        if each.is_published:
            by_lane[Lane.of(each.mode, each.priority, each.channel)].append(each.id)
    if by_lane:
        transaction.on_commit(partial(_publish_lanes, by_lane))


def _publish_lanes(by_lane: Mapping[Lane, Sequence[UUID]]) -> None:
    left = [
        delivery_id
        for lane, delivery_ids in by_lane.items()
        if not publish(lane, lanes.chunks(delivery_ids))
        for delivery_id in delivery_ids
    ]
    if left:
        with suppress(Error):
            make_due(left)


def make_due(delivery_ids: Sequence[UUID]) -> None:
    """Make queued rows (at least one) due now, after a failed publish."""
    ids = list(delivery_ids)
    db.run("due_now", {**id_ranges.around(ids), "ids": ids, "queued": Status.QUEUED})


def publish(lane: Lane, messages: Sequence[Sequence[UUID]]) -> bool:
    """Publish lists of ids on a lane; returns False if the broker did not take all."""
    return _took(lane, len(messages), partial(lanes.publish, lane, messages))


def publish_lane_messages(lane: Lane, messages: Sequence[tuple[Span, int]]) -> bool:
    """Publish messages for due rows of P2 or P3; returns False if the broker did not take all.

    `messages` has the range of the ids and the most rows of each.
    """
    return _took(lane, len(messages), partial(lanes.publish_lane_messages, lane, messages))


def _took(lane: Lane, messages: int, send: Callable[[], None]) -> bool:
    try:
        send()
    except lanes.BrokerAway:
        _log.warning("publish_failed", lane=lane.name, messages=messages)
        return False
    return True
