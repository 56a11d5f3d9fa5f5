"""Expired items, ended snoozes, and the end of the retention of items.

A read settles the inbox before, so pages and counts are exact at any moment; the sweep `inbox`
settles all other inboxes, so live clients get the change.
"""

from __future__ import annotations

import datetime as dt
from collections.abc import Collection
from typing import Any, Final, NamedTuple
from uuid import UUID

from notifications.core import clock
from notifications.core.models import Inbox, InboxUncleared
from notifications.core.rules import ids as row_ids
from notifications.core.rules.inbox_states import InboxState
from notifications.core.store.postgres import db
from notifications.features.inbox.rows import cache, groups, heads
from notifications.features.inbox.rows.heads import Heads

_BATCH: Final = 500
"""Items of a recipient in a transaction."""

PURGE_START = UUID(int=0)


def settle(recipient_ids: Collection[int]) -> int:
    """Remove expired items and end snoozes that are over, up to 500 of each recipient.

    Safe to run twice and late. Afterwards `next_change_at` is the exact time of the next change.

    Returns:
        The number of changed items.
    """
    count = 0

    def work(locked: Heads) -> None:
        nonlocal count
        recipients = sorted(locked)
        values = {"recipients": recipients, "now": clock.now(), "limit": _BATCH}
        moves = db.rows("inbox_settle", values)
        heads.apply(locked, moves)
        groups.regroup(locked, moves)
        count = sum(row["count"] for row in moves)
        for row in db.rows("inbox_next_due", {"recipients": recipients}):
            head = locked[row["recipient_id"]]
            head.next_change_at = row["due_at"]
            head.is_rewritten = True

    heads.write(recipient_ids, work)
    return count


def due(*, now: dt.datetime, limit: int) -> list[int]:
    """Return recipients with an expired item or a snooze that is over."""
    return [row["recipient_id"] for row in db.rows("inbox_due", {"now": now, "limit": limit})]


def clear_uncleared(*, limit: int) -> int:
    """Clear entries of the cache that writers could not clear; returns the number.

    Safe to run twice; zero while the state Redis is away. Never: readers see an old page until the
    entry expires.
    """
    rows = list(InboxUncleared.objects.order_by("id")[:limit])
    recipients = sorted({row.recipient_id for row in rows})
    versions = dict(Inbox.objects.filter(pk__in=recipients).values_list("recipient_id", "version"))
    if not rows or not cache.clear(recipients, dict.fromkeys(recipients, 0) | versions):
        return 0
    InboxUncleared.objects.filter(pk__in=[row.pk for row in rows]).delete()
    return len(rows)


class Purged(NamedTuple):
    """The result of a batch."""

    deleted: int
    """Number of deleted items."""
    position: UUID
    """Start of the next batch; PURGE_START after the last batch."""


def purge(*, before: dt.date, after: UUID, limit: int) -> Purged:
    """Delete those of the next `limit` items in the order of ids that arrived before a UTC day.

    An item of a notification scheduled ahead arrives later than its id says, and stays
    until its own time. A client with an older version loads page 1 again (`TOO_OLD`). Safe to
    run twice, concurrently, late or never: the items stay until then.
    """
    values = {"after": after, "ceiling": row_ids.floor_of(before), "limit": limit}
    rows = db.rows("inbox_old", values)
    old = [row for row in rows if row["created_at"].date() < before]
    count = _delete(old) if old else 0
    return Purged(count, rows[-1]["id"] if len(rows) == limit else PURGE_START)


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
