"""Expired items and snoozes that are over.

Reads settle the inbox that they read, so pages and counts are exact at any moment; the sweep
`inbox` settles all others, so that live clients learn of the change.
"""

from __future__ import annotations

import datetime as dt
from collections.abc import Collection
from typing import Final

from notifications.core import clock
from notifications.core.models import Inbox, InboxUncleared
from notifications.core.store.postgres import db
from notifications.features.inbox.rows import cache, groups, heads
from notifications.features.inbox.rows.heads import Heads

_BATCH: Final = 500
"""Items of a recipient in a transaction."""


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
