"""Relay: publish messages for the due queued rows, lane by lane.

The broker holds at most `NOTIFY_BROKER_MESSAGES` messages of a lane. Further rows wait in Postgres,
where they survive the loss of the broker and can be cancelled.

**P2 and P3.** A message has no ids: its task claims the rows that are due then
(`delivery.lane_claims`). The relay counts the due rows, and publishes the messages that are missing
for them. Rows stay due until a claim, so a lost message is replaced a second later, and a message
too many claims nothing.

**P0 and P1.** A message has ids, because the accepting process publishes the rows at once. The
relay publishes the rows that no process could publish. `due_at` is moved and committed before the
publish, under the lane's advisory lock, so two relays never publish a row at the same time. After a
failed publish the rows are due again; the state Redis notes a share of rows until its publish, so
the share of a relay that died is published again after seconds. Published rows without a claim, in
a lane without ready messages, were lost by a wiped, restarted or restored broker: the relay
publishes them again. Rows with several claims without a result leave in smaller messages, then
alone (`rules.suspects`); rows that no claim takes end here (`delivery.unclaimed`).

Runs at the same moment, at most one of beat and a further one of each `ops` process, read the same
number of messages, so a lane can get a quota from each of them: of P0 and P1 other rows each, of P2
and P3 messages too many, which claim nothing. A paused lane gets one row a second
(`delivery.lane_pauses`).
"""

from __future__ import annotations

import datetime as dt
from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from itertools import product, zip_longest
from operator import itemgetter
from typing import Any, Final, NamedTuple
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
from notifications.core.store.postgres import db, id_ranges, locks, publish
from notifications.core.store.postgres.id_ranges import Span
from notifications.core.store.redis import unpublished
from notifications.core.store.redis.unpublished import Share
from notifications.core.sweeps import publish_quota, rounds
from notifications.core.sweeps.rounds import Swept

_log = structlog.get_logger(__name__)

LOST_AFTER: Final = dt.timedelta(seconds=3)
"""A row of P0 or P1 counts as lost if published longer ago, without a claim, in a lane without
ready messages. A row in a worker's hands is published twice and claimed once."""
UNPUBLISHED_AFTER: Final = dt.timedelta(seconds=5)
"""Age at which the relay of an unpublished share counts as dead; a publish takes milliseconds. A
share of a slow relay is published twice, and claimed once."""
AT_ONCE: Final = dt.timedelta(0)
EVER: Final = dt.timedelta(days=1_000)
"""Time within which each waiting row is due."""
_MESSAGES: Final = 8
"""Messages into which the due rows of a P2 or P3 lane are divided, within the limits of a size."""
SMALLEST_MESSAGE: Final = 250
"""Rows of a message, if there are as many: smaller messages cost twice the work for each row."""


def run_once(*, now: dt.datetime, limit: int) -> Swept:
    """Publish messages within the quota; counts the rows. `limit`: lost rows of a lane in a run."""
    waiting = _lanes_with_spans()
    if not waiting:
        return Swept()
    names = sorted(lane.name for lane in waiting)
    try:
        depths = lanes.depths(names)
    except lanes.BrokerAway:
        _log.warning("broker_away", waiting_lanes=len(names))
        return Swept()
    left = unpublished.shares_before(now - UNPUBLISHED_AFTER)
    quotas = publish_quota.quotas({lane: depths[lane.name] for lane in waiting})
    done = Swept()
    for lane, spans in sorted(waiting.items(), key=itemgetter(0)):
        free, depth = quotas.get(lane, 0), depths[lane.name]
        try:
            if lane.priority.is_urgent:
                _make_shares_due(lane, spans, left)
                published = _publish_ids(lane, spans, free, depth=depth, limit=limit)
            else:
                published = _publish_lane_messages(lane, spans, free, depth=depth)
        except rounds.DATABASE_TROUBLE as error:
            _log.warning("lane_not_relayed", lane=lane.name, error=str(error))
            done += Swept(failed=1)
        else:
            done += Swept(published)
    if not done.failed:
        unpublished.forget(left)
    return done


def _lanes_with_spans() -> dict[Lane, list[Span]]:
    """Return the lanes with queued rows, and the ranges of the rows, the recent days first."""
    waiting: dict[Lane, list[Span]] = defaultdict(list)
    for span in id_ranges.current():
        for lane in rounds.lanes_due(Status.QUEUED, span, within=EVER):
            waiting[lane].append(span)
    return waiting


class LaneMessages(NamedTuple):
    """The messages that are missing for the due rows of a P2 or P3 lane."""

    due: int
    """The due rows for which no message waits."""
    messages: list[tuple[Span, int]]
    """The range of each message, and the most rows that it may claim."""


def lane_messages(lane: Lane, spans: Sequence[Span], free: int, *, depth: int = 0) -> LaneMessages:
    """Return the messages that are missing for the due rows of a lane.

    The ranges take turns, so that the backlog of one range does not delay the rows of another.

    Args:
        lane: a lane of P2 or P3.
        spans: the ranges of the ids.
        free: the most rows of all messages.
        depth: the messages of the lane in the broker, of any range.
    """
    if free <= 0:
        return LaneMessages(0, [])
    most = free + depth * lanes.CHUNK
    due = [db.rows("count_due", {**each, **_of(lane), "most": most})[0]["due"] for each in spans]
    share = max(free // max(sum(map(bool, due)), 1), 1)
    size = min(max(-(-sum(due) // _MESSAGES), SMALLEST_MESSAGE), lanes.CHUNK, share)
    needed = [[span] * -(-count // size) for span, count in zip(spans, due, strict=True)]
    turns = [span for turn in zip_longest(*needed) for span in turn if span]
    messages = [
        (span, min(size, free - number * size))
        for number, span in enumerate(turns[: max(len(turns) - depth, 0)])
        if number * size < free
    ]
    return LaneMessages(min(max(sum(due) - depth * size, len(messages)), free), messages)


def _publish_lane_messages(lane: Lane, spans: Sequence[Span], free: int, *, depth: int) -> int:
    due, messages = lane_messages(lane, spans, free, depth=depth)
    if not messages or not publish.publish_lane_messages(lane, messages):
        return 0
    publish_quota.charge_published(lane, due)
    return due


def _publish_ids(lane: Lane, spans: Sequence[Span], free: int, *, depth: int, limit: int) -> int:
    if not depth and lane.name not in paused_lanes.current():
        make_lost_due(lane, spans, limit=limit)
    published = 0
    for span in spans:
        rows, share = _take(lane, span, free - published)
        if share is None:
            continue
        if not publish.publish(lane, _messages(rows)):
            publish.make_due([row["id"] for row in rows])
            rows = ()
        unpublished.forget([share])
        published += len(rows)
    return published


def take(lane: Lane, span: Span, free: int) -> list[Sequence[UUID]]:
    """Take up to `free` due rows of a P0 or P1 lane as messages, and move their `due_at`.

    The caller delivers the messages, or makes the rows due again.
    """
    rows, share = _take(lane, span, free)
    unpublished.forget([share] if share else [])
    return _messages(rows)


def _take(lane: Lane, span: Span, free: int) -> tuple[Sequence[Mapping[str, Any]], Share | None]:
    """Take rows as `take` does; returns the rows, and the noted share if there are rows."""
    if free <= 0:
        return [], None
    share = None
    with transaction.atomic():
        if not locks.try_for_transaction(f"relay {lane.name}"):
            return [], None  # another relay has the lane
        rows = db.rows("lock_due", {**span, **_of(lane), "rows": free})
        if rows:
            noted = db.rows("publish", {**span, "ids": [row["id"] for row in rows]})
            share = Share(lane.name, noted[0]["published_at"])
            unpublished.note(share)
    if rows:
        # A task that fails returns a row as if nobody had published it, time after time.
        waited = [
            row["id"] for row in rows if row["publishes"] or row["reason"] == Reason.TASK_FAILED
        ]
        ended = unclaimed.find(rows, may_be_over=waited).end()
        rows = [row for row in rows if row["id"] not in ended] if ended else rows
    return rows, share


def _messages(rows: Sequence[Mapping[str, Any]]) -> list[Sequence[UUID]]:
    """Split rows into messages; rows with the same number of failed claims share messages."""
    by_size: dict[int, list[UUID]] = defaultdict(list)
    for row in rows:
        has_failed = row["reason"] == Reason.TASK_FAILED
        size = suspects.most_together(row["claims"], has_failed=has_failed)
        by_size[min(size, lanes.URGENT_CHUNK)].append(row["id"])
    return [
        message
        for size, ids in sorted(by_size.items(), reverse=True)
        for message in lanes.chunks(ids, most=size)
    ]


def make_lost_due(
    lane: Lane, spans: Iterable[Span], *, limit: int, older_than: dt.timedelta = LOST_AFTER
) -> None:
    """Make published rows of P0 or P1 without a claim due now, if older than `older_than`."""
    for span in spans:
        parameters = {**span, **_of(lane), "older_than": older_than, "limit": limit, "at": None}
        if lost := db.run("publish_again", parameters):
            _log.warning("lost_by_broker", lane=lane.name, count=lost)


def _make_shares_due(lane: Lane, spans: Sequence[Span], shares: Sequence[Share]) -> None:
    """Make the rows of the lane's shares due now: their relay died before the publish."""
    for span, share in product(spans, [each for each in shares if each.lane == lane.name]):
        # The quota bounded the share, so no limit is needed.
        parameters = {"older_than": AT_ONCE, "limit": None, "at": share.published_at}
        if lost := db.run("publish_again", {**span, **_of(lane), **parameters}):
            _log.warning("lost_by_relay", lane=lane.name, count=lost)


def _of(lane: Lane) -> dict[str, object]:
    return {"queued": Status.QUEUED, **lane.columns}
