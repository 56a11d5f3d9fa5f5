"""The change feed: all status changes in the order of their commits.

Each event has the id of its transaction (`xid`, a default of the column), and the order of the feed
is (`xid`, `seq`). A reader stops before the oldest open transaction, because an open transaction
with an id can commit later. No event appears before the oldest open transaction, so a reader with a
position gets each change once. Therefore a transaction left open delays the feed, in any database
of the cluster. Sessions of the service are ended after `idle_in_transaction_session_timeout`.

`since` needs no index on the time: housekeeping stores a mark each minute (`mark`), and a reader
begins at the last mark before the instant and leaves earlier changes out.

A page reads at most SCANNED events, so a producer with few changes among many gets an empty page
with a later position in place of a slow query. Positions are of one cluster: after a restore of a
dump a position is refused (`Foreign`), and events with transaction ids of the former cluster leave
the feed (`forget_foreign`). A server restored to an earlier time gives transaction ids again; the
steps of docs/operations.md raise their epoch, so that a position skips no change.

After a failover the new primary gives the transaction ids of lost transactions again, and a
position behind a lost transaction would skip the changes of these ids. So a page is returned when
its changes are on a synchronous standby (`durable_reads`). A session may still be on the former
primary, which is behind the positions of the new one. So a position that is ahead is refused only
after a commit, which the former primary cannot make.
"""

from __future__ import annotations

import datetime as dt
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from typing import Any, Final
from uuid import UUID

from notifications.core.rules.feed_position import FeedPosition
from notifications.core.rules.lane import Mode
from notifications.core.rules.states import Status
from notifications.core.store.postgres import db, durable_reads
from providers.contract import Channel

SCANNED: Final = 5_000
"""Upper bound of events that a page reads."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Change:
    """A status change."""

    notification_id: UUID
    delivery_id: UUID | None
    user_id: str
    type: str
    channel: Channel | None
    status: Status
    reason: str
    occurred_at: dt.datetime
    metadata: dict[str, Any]


@dataclass(frozen=True, slots=True, kw_only=True)
class FeedBounds:
    """The state of the feed."""

    cluster: int
    open_from: int
    """The oldest open transaction; a page ends before it."""
    next: int
    """The next transaction."""
    marked: int | None
    """The transaction at which `since` begins; None: the first one."""

    def refuses(self, position: FeedPosition) -> bool:
        """Return True for a position of another cluster, or of transactions lost by a restore."""
        return position.cluster != self.cluster or position.xid > self.next


class ForeignPositionError(ValueError):
    """The position is of another cluster, or ahead of this cluster after a restore."""


def bounds(*, since: dt.datetime | None = None) -> FeedBounds:
    """Return the state of the feed, and the start of the changes since an instant."""
    [row] = db.rows("feed_bounds", {"since": since})
    return FeedBounds(
        cluster=row["cluster"] % 2**64,
        open_from=row["open_from"],
        next=row["next"],
        marked=row["marked"],
    )


def page(
    position: FeedPosition | None,
    *,
    producer_id: int,
    mode: Mode,
    limit: int,
    since: dt.datetime | None = None,
) -> tuple[list[Change], FeedPosition]:
    """Return changes after a position, and the position after them.

    Args:
        position: None starts at `since`, or at the oldest change that is kept.
        producer_id: the producer of the notifications.
        mode: the mode of the notifications.
        limit: the most changes; with 1, two changes of one event are a page.
        since: where the feed starts without a position.

    Raises:
        ForeignPositionError: the position is not of this feed.
        OperationalError: the changes are not known to be on a synchronous standby.
    """
    state = bounds(since=since)
    if position is None:
        position = FeedPosition(cluster=state.cluster, xid=state.marked or 0, since=since)
    elif state.refuses(position):
        durable_reads.confirm()
        raise ForeignPositionError
    end = end_of(position, state)
    if end == position:
        return [], position
    found = db.rows(
        "feed_page",
        {
            "xid": position.xid,
            "seq": position.seq,
            "end_xid": end.xid,
            "end_seq": end.seq,
            "scanned": SCANNED,
            "since": position.since,
            "producer": producer_id,
            "mode": int(mode),
            "limit": limit,
        },
    )
    changes, taken = _first_changes(found, since=position.since, limit=limit)
    if taken < len(found) or taken == limit:
        end = replace(position, xid=found[taken - 1]["xid"], seq=found[taken - 1]["seq"])
    durable_reads.confirm()
    return changes, end


def _first_changes(
    rows: Sequence[dict[str, Any]], *, since: dt.datetime | None, limit: int
) -> tuple[list[Change], int]:
    """Return the changes of the first events that fit into a page, and the number of events."""
    changes: list[Change] = []
    for taken, row in enumerate(rows):
        told = tuple(_changes(row, since=since))
        if changes and len(changes) + len(told) > limit:
            return changes, taken
        changes += told
    return changes, len(rows)


def end_of(position: FeedPosition, state: FeedBounds, *, below: int | None = None) -> FeedPosition:
    """Return where a scan from a position ends; the position itself without a further event.

    Args:
        position: where the scan begins.
        state: the bounds of the feed.
        below: a transaction that the scan does not reach; None: the oldest open one.
    """
    scan = {
        "xid": position.xid,
        "seq": position.seq,
        "below": state.open_from if below is None else min(below, state.open_from),
        "scanned": SCANNED,
    }
    last = db.rows("feed_end", scan)
    return replace(position, **last[0]) if last else position


def mark() -> None:
    """Store the feed's present line with the time."""
    db.run("feed_mark", {})


def oldest_hold() -> dt.datetime | None:
    """Return the time of the first mark with the present oldest transaction; None without a mark.

    The service writes at least each minute, so marks with the same transaction prove a transaction
    open since the first of the marks.
    """
    [row] = db.rows("feed_held_since", {})
    since: dt.datetime | None = row["since"]
    return since


def forget_marks(*, before: dt.datetime, limit: int) -> int:
    """Delete marks from before an instant, and marks of another cluster."""
    return db.run("feed_forget_marks", {"before": before, "limit": limit})


def forget_foreign(*, limit: int) -> int:
    """Take events with transaction ids of another cluster out of the feed."""
    return db.run("feed_forget_foreign", {"limit": limit})


def _changes(row: dict[str, Any], *, since: dt.datetime | None) -> Iterator[Change]:
    """Yield the claim that ended with an event, which is no event of its own, and the event."""
    change = Change(
        notification_id=row["notification_id"],
        delivery_id=row["delivery_id"],
        user_id=row["user_id"],
        type=row["type"],
        channel=None if row["channel"] is None else Channel(row["channel"]),
        status=Status(row["status"]),
        reason=row["reason"],
        occurred_at=row["at"],
        metadata=row["metadata"],
    )
    claimed_at = row["claimed_at"]
    if claimed_at is not None and (since is None or claimed_at >= since):
        yield replace(change, status=Status.SENDING, reason="", occurred_at=claimed_at)
    yield change
