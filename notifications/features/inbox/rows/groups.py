"""Groups of items with a collapse key, after items were removed."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

from notifications.core.store.postgres import db
from notifications.features.inbox.rows import heads
from notifications.features.inbox.rows.heads import Heads


def regroup(locked: Heads, removals: Iterable[Mapping[str, Any]]) -> None:
    """Choose the newest remaining item of the groups after a removal.

    Args:
        locked: the heads of the write.
        removals: rows with the ids of groups in the column `groups`.
    """
    groups = sorted({group for row in removals for group in row["groups"]})
    if groups:
        heads.apply(
            locked, db.rows("inbox_regroup", {"groups": groups, "recipients": sorted(locked)})
        )
