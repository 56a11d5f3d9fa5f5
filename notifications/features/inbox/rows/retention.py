"""The end of the retention of inbox items."""

from __future__ import annotations

import datetime as dt
from typing import Any, NamedTuple
from uuid import UUID

from notifications.core.rules import ids as row_ids
from notifications.core.rules.inbox_states import InboxState
from notifications.core.store.postgres import db
from notifications.features.inbox.rows import groups, heads
from notifications.features.inbox.rows.heads import Heads

START = UUID(int=0)


class Purged(NamedTuple):
    """The result of a batch."""

    deleted: int
    """Number of deleted items."""
    position: UUID
    """Start of the next batch; START after the last batch."""


def purge(*, before: dt.date, after: UUID, limit: int) -> Purged:
    """Delete those of the next `limit` items in the order of ids that arrived before a UTC day.

    An item of a notification that was scheduled ahead arrives later than its id says, and stays
    until its own time. A client that has an older version loads page 1 again (`TOO_OLD`). Safe to
    run twice, concurrently, late or never: the items stay until then.
    """
    values = {"after": after, "ceiling": row_ids.floor_of(before), "limit": limit}
    rows = db.rows("inbox_old", values)
    old = [row for row in rows if row["created_at"].date() < before]
    count = _delete(old) if old else 0
    return Purged(count, rows[-1]["id"] if len(rows) == limit else START)


def _delete(old: list[dict[str, Any]]) -> int:
    count = 0

    def work(locked: Heads) -> None:
        nonlocal count
        values = {"ids": [row["id"] for row in old], "recipients": sorted(locked)}
        removals = db.rows("inbox_purge", values)
        count = sum(row["count"] for row in removals)
        for row in removals:
            head = locked[row["recipient_id"]]
            if row["before"] == InboxState.GONE:
                head.forget_changes(row["version"])
            else:
                head.move(row["category"], row["before"], row["after"], row["count"])
                head.forget_changes(head.version + 1)
        groups.regroup(locked, removals)

    heads.write({row["recipient_id"] for row in old}, work)
    return count
