"""Relay: publish due queued rows, lane by lane.

The broker holds at most `NOTIFY_BROKER_MESSAGES` messages of a lane. Further rows wait in Postgres,
where they survive the loss of the broker and can be cancelled. `due_at` is moved and committed
before the publish, under the lane's advisory lock, so two relays never publish a row at the same
time. After a failed publish the rows are due again; the state Redis notes a share of rows until its
publish, so the share of a relay that died is published again after seconds. Each of n `ops`
processes can add a quota to a lane at the same moment.

Published rows without a claim, in a lane without ready messages, were lost by a wiped, restarted or
restored broker. The relay publishes them again with a new `published_at`.

Rows with several claims without a result leave in smaller messages, then alone (`rules.suspects`);
rows that no claim takes, and rows published before whose time to live is over, end here
(`delivery.unclaimed`). A paused lane gets one row a second (`delivery.lane_pauses`).
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

from notifications.core import lanes
from notifications.core.delivery import unclaimed
from notifications.core.rules import suspects
from notifications.core.rules.lane import Lane
from notifications.core.rules.reasons import Reason
from notifications.core.rules.states import Status
from notifications.core.store.cached import paused_lanes
from notifications.core.store.postgres import db, fair_queue, id_ranges, locks, publish
from notifications.core.store.postgres.id_ranges import Span
from notifications.core.store.redis import unpublished
from notifications.core.store.redis.unpublished import Share
from notifications.core.sweeps import publish_quota, rounds
from notifications.core.sweeps.rounds import Swept

_log = structlog.get_logger(__name__)

LOST_AFTER: Final = dt.timedelta(seconds=15)
"""A row counts as lost if published longer ago, without a claim, in a lane without ready
messages."""
URGENT_LOST_AFTER: Final = dt.timedelta(seconds=3)
"""The same for P0 and P1, whose messages a worker holds only briefly. A row in a worker's hands is
published twice and claimed once."""
UNPUBLISHED_AFTER: Final = dt.timedelta(seconds=5)
"""Age at which the relay of an unpublished share counts as dead; a publish takes milliseconds. A
share of a slow relay is published twice, and claimed once."""
AT_ONCE: Final = dt.timedelta(0)
EVER: Final = dt.timedelta(days=1_000)
"""Time within which each waiting row is due."""


def run_once(*, now: dt.datetime, limit: int) -> Swept:
    """Publish due rows within the quota; counts the ids. `limit`: lost rows of a lane in a run."""
    recent, *older = id_ranges.current()
    waiting = [
        (lane, span)
        for span in (recent, *older)
        for lane in rounds.lanes_due(Status.QUEUED, span, within=EVER)
    ]
    if not waiting:
        return Swept()
    names = sorted({lane.name for lane, _ in waiting})
    try:
        depths = lanes.depths(names)
    except lanes.BrokerAway:
        _log.warning("broker_away", waiting_lanes=len(names))
        return Swept()
    left = unpublished.shares_before(now - UNPUBLISHED_AFTER)
    quotas = publish_quota.quotas({lane: depths[lane.name] for lane, _ in waiting})
    done = Swept()
    for lane, span in sorted(waiting, key=itemgetter(0)):
        try:
            _make_shares_due(lane, span, left)
            if not depths[lane.name] and lane.name not in paused_lanes.current():
                make_lost_due(lane, span, limit=limit, older_than=lost_after(lane))
            published = _publish(lane, span, quotas.get(lane, 0), is_recent=span is recent)
        except rounds.DATABASE_TROUBLE as error:
            _log.warning("lane_not_relayed", lane=lane.name, error=str(error))
            done += Swept(failed=1)
        else:
            quotas[lane] = quotas.get(lane, 0) - published
            done += Swept(published)
    if not done.failed:
        unpublished.forget(left)
    return done


def _publish(lane: Lane, span: Span, free: int, *, is_recent: bool) -> int:
    rows, share = _take(lane, span, free, is_recent=is_recent)
    if share is None:
        return 0
    if not publish.publish(lane, _messages(lane, rows)):
        publish.make_due([row["id"] for row in rows])
        rows = ()
    unpublished.forget([share])
    return len(rows)


def take(lane: Lane, span: Span, free: int, *, is_recent: bool) -> list[Sequence[UUID]]:
    """Take up to `free` due rows of a lane as messages, and move their `due_at`.

    The caller publishes the messages, delivers them, or makes them due again. `is_recent`: `span`
    is the first of `id_ranges.current()`.
    """
    rows, share = _take(lane, span, free, is_recent=is_recent)
    unpublished.forget([share] if share else [])
    return _messages(lane, rows)


def _take(
    lane: Lane, span: Span, free: int, *, is_recent: bool
) -> tuple[Sequence[Mapping[str, Any]], Share | None]:
    """Take rows as `take` does; returns the rows, and the noted share if there are rows."""
    if free <= 0:
        return [], None
    share = None
    with transaction.atomic():
        if not locks.try_for_transaction(f"relay {lane.name}"):
            return [], None  # another relay has the lane
        rows = db.rows("publish", {**span, **_of(lane), "room": free})
        if rows:
            share = Share(lane.name, rows[0]["published_at"])
            unpublished.note(share)
    if is_recent and not lane.priority.is_urgent:
        publish_quota.shares.note_published(lane, left_over=len(rows) == free)
        fair_queue.note_published(lane, last=rows[-1]["place"] if len(rows) == free else None)
    if rows:
        publish_quota.charge_published(lane, len(rows))
        # A task that fails returns a row as if nobody had published it, time after time.
        waited = [
            row["id"] for row in rows if row["publishes"] > 1 or row["reason"] == Reason.TASK_FAILED
        ]
        ended = unclaimed.end_those(rows, may_be_over=waited)
        rows = [row for row in rows if row["id"] not in ended] if ended else rows
    return rows, share


def _messages(lane: Lane, rows: Sequence[Mapping[str, Any]]) -> list[Sequence[UUID]]:
    """Split rows into messages; rows with the same number of failed claims share messages."""
    by_size: dict[int, list[UUID]] = defaultdict(list)
    largest = (
        lanes.URGENT_CHUNK if lane.priority.is_urgent else publish_quota.shares.message_size(lane)
    )
    for row in rows:
        has_failed = row["reason"] == Reason.TASK_FAILED
        size = suspects.most_together(row["claims"], has_failed=has_failed)
        by_size[size].append(row["id"])
    return [
        message
        for size in sorted(by_size, reverse=True)
        for message in lanes.chunks(by_size[size], lane=lane, most=min(size, largest))
    ]


def lost_after(lane: Lane) -> dt.timedelta:
    """Return the age at which a published row of the lane counts as lost."""
    return URGENT_LOST_AFTER if lane.priority.is_urgent else LOST_AFTER


def make_lost_due(lane: Lane, span: Span, *, limit: int, older_than: dt.timedelta) -> None:
    """Make published rows without a claim due now, if older than `older_than`."""
    parameters = {**span, **_of(lane), "older_than": older_than, "limit": limit, "at": None}
    if lost := db.run("publish_again", parameters):
        _log.warning("lost_by_broker", lane=lane.name, count=lost)


def _make_shares_due(lane: Lane, span: Span, shares: Sequence[Share]) -> None:
    """Make the rows of the lane's shares due now: their relay died before the publish."""
    for share in shares:
        if share.lane != lane.name:
            continue
        # The quota bounded the share, so no limit is needed.
        parameters = {"older_than": AT_ONCE, "limit": None, "at": share.published_at}
        if lost := db.run("publish_again", {**span, **_of(lane), **parameters}):
            _log.warning("lost_by_relay", lane=lane.name, count=lost)


def _of(lane: Lane) -> dict[str, object]:
    return {
        "queued": Status.QUEUED,
        "mode": lane.mode,
        "priority": lane.priority,
        "channel": lane.channel,
    }
