"""Lifetimes of messages after a hold for a digest.

A message that waits for a daily or weekly digest may wait longer than the default time to live.
When such a message leaves by itself, its time to live begins again. A time to live that the
producer gave is kept.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from notifications.core import conf
from notifications.core.rules import ids
from notifications.core.rules.lane import Priority
from notifications.core.rules.reasons import Reason
from notifications.core.store.postgres import db
from notifications.core.store.postgres.id_ranges import Span


def extend(rows: Sequence[Mapping[str, Any]], span: Span) -> None:
    """Begin the default time to live again for the notifications of rows held for a digest.

    Safe to run twice: the statement changes only notifications with the default time to live.
    The caller releases the rows in the same transaction.
    """
    held = {ids.notification_of(row["id"]) for row in rows if row["reason"] == Reason.DIGEST}
    if not held:
        return
    usual = conf.current().times_to_live
    lives = [usual[priority] for priority in sorted(Priority)]
    db.run("extend_lifetimes", {**span, "ids": sorted(held), "lives": lives})
