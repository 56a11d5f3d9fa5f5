"""Relay: publish due queued rows, lane by lane.

The broker holds at most `NOTIFY_BROKER_MESSAGES` messages of a lane. Further rows wait in Postgres,
where they survive the loss of the broker and can be cancelled. `due_at` is moved and committed
before the publish, under the lane's advisory lock, so two relays never publish a row at the same
time. After a failed publish the rows are due again. Each of n `ops` processes can add a quota to a
lane at the same moment.

Published rows without a claim, in a lane without ready messages, were lost by a wiped, restarted or
restored broker. The relay publishes them again with a new `published_at`.

Rows with several claims without a result leave in smaller messages, then alone (`rules.suspects`).
"""

from __future__ import annotations

import datetime as dt
from collections import defaultdict
from collections.abc import Mapping, Sequence
from operator import itemgetter
from typing import Any, Final
from uuid import UUID

import structlog
from django.db import transaction

from notifications import lanes
from notifications.rules import suspects
from notifications.rules.lane import Lane
from notifications.rules.states import Status
from notifications.store.postgres import db, fair_queue, id_ranges, locks, publish
from notifications.store.postgres.id_ranges import Span
from notifications.sweeps import publish_quota, rounds
from notifications.sweeps.rounds import Swept

_log = structlog.get_logger(__name__)

LOST_AFTER: Final = dt.timedelta(seconds=15)
"""A row counts as lost if published longer ago, without a claim, in a lane without ready
messages."""
URGENT_LOST_AFTER: Final = dt.timedelta(seconds=3)
"""The same for P0 and P1, whose messages a worker holds only briefly. A row in a worker's hands is
published twice and claimed once."""
AT_ONCE: Final = dt.timedelta(0)
_EVER: Final = dt.timedelta(days=1_000)


def run_once(*, now: dt.datetime, limit: int) -> Swept:
    """Publish due rows within the quota; counts the ids. `limit`: lost rows of a lane in a run."""
    del now
    recent, *older = id_ranges.current()
    waiting = [
        (lane, span)
        for span in (recent, *older)
        for lane in rounds.lanes_due(Status.QUEUED, span, within=_EVER)
    ]
    if not waiting:
        return Swept()
    names = sorted({lane.name for lane, _ in waiting})
    try:
        depths = lanes.depths(names)
    except lanes.BrokerAway:
        _log.warning("broker_away", waiting_lanes=len(names))
        return Swept()
    quotas = publish_quota.quotas({lane: depths[lane.name] for lane, _ in waiting})
    done = Swept()
    for lane, span in sorted(waiting, key=itemgetter(0)):
        try:
            if not depths[lane.name]:
                urgent = lane.priority.is_urgent
                older_than = URGENT_LOST_AFTER if urgent else LOST_AFTER
                make_lost_due(lane, span, limit=limit, older_than=older_than)
            published = _publish(lane, span, quotas.get(lane, 0), is_recent=span is recent)
        except rounds.DATABASE_TROUBLE as error:
            _log.warning("lane_not_relayed", lane=lane.name, error=str(error))
            done += Swept(failed=1)
        else:
            quotas[lane] = quotas.get(lane, 0) - published
            done += Swept(published)
    return done


def _publish(lane: Lane, span: Span, free: int, *, is_recent: bool) -> int:
    messages = take(lane, span, free, is_recent=is_recent)
    ids = [each for message in messages for each in message]
    if not ids:
        return 0
    if not publish.publish(lane, messages):
        publish.make_due(ids)
        return 0
    return len(ids)


def take(lane: Lane, span: Span, free: int, *, is_recent: bool) -> list[Sequence[UUID]]:
    """Take up to `free` due rows of a lane as messages, and move their `due_at`.

    The caller publishes the messages, delivers them, or makes them due again. `is_recent`: `span`
    is the first of `id_ranges.current()`.
    """
    if free <= 0:
        return []
    with transaction.atomic():
        if not locks.try_for_transaction(f"relay {lane.name}"):
            return []  # another relay has the lane
        rows = db.rows("publish", {**span, **_of(lane), "room": free})
    if is_recent and not lane.priority.is_urgent:
        publish_quota.shares.note_published(lane, left_over=len(rows) == free)
        fair_queue.note_published(lane, last=rows[-1]["place"] if len(rows) == free else None)
    if rows:
        publish_quota.charge_published(lane, len(rows))
    return _messages(lane, rows)


def _messages(lane: Lane, rows: Sequence[Mapping[str, Any]]) -> list[Sequence[UUID]]:
    """Split rows into messages; rows with the same number of failed claims share messages."""
    by_size: dict[int, list[UUID]] = defaultdict(list)
    largest = (
        lanes.URGENT_CHUNK if lane.priority.is_urgent else publish_quota.shares.message_size(lane)
    )
    for row in rows:
        by_size[suspects.most_together(row["claims"])].append(row["id"])
    return [
        message
        for size in sorted(by_size, reverse=True)
        for message in lanes.chunks(by_size[size], lane=lane, most=min(size, largest))
    ]


def make_lost_due(lane: Lane, span: Span, *, limit: int, older_than: dt.timedelta) -> None:
    """Make published rows without a claim due now, if older than `older_than`."""
    parameters = {**span, **_of(lane), "older_than": older_than, "limit": limit}
    if lost := db.run("publish_again", parameters):
        _log.warning("lost_by_broker", lane=lane.name, count=lost)


def _of(lane: Lane) -> dict[str, object]:
    return {
        "queued": Status.QUEUED,
        "mode": lane.mode,
        "priority": lane.priority,
        "channel": lane.channel,
    }
