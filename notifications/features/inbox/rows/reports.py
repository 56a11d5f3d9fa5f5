"""Reports: seen or read items with deliveries before the new status.

The transaction of a mark writes the report, so a killed process loses no report.
"""

from __future__ import annotations

import datetime as dt
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Final
from uuid import UUID

from notifications.core import clock
from notifications.core.store.postgres import db

LEASE: Final = dt.timedelta(seconds=60)
"""After a kill the report is taken again at the end of the lease."""
_NO_ITEM: Final[dict[str, Any]] = {"notification_id": None, "seen_at": None, "read_at": None}


@dataclass(frozen=True, slots=True, kw_only=True)
class InboxReport:
    """A report, with the times of the item at the claim."""

    item_id: UUID
    """Id of the item and of its in_app delivery."""
    recipient_id: int
    due_at: dt.datetime
    """End of the claim; tells a report that came again from the claimed one."""
    notification_id: UUID | None
    """None: the item was deleted by age or erasure, so that the report has no object."""
    seen_at: dt.datetime | None
    read_at: dt.datetime | None


def claim(*, limit: int, recipient_id: int | None = None) -> list[InboxReport]:
    """Take due reports, of one recipient or of all, for the time of `LEASE`.

    Concurrent claims skip each other's rows. The items are read after the claim, so the report has
    the times of a mark, or the mark makes the report come again.
    """
    values = {"now": clock.now(), "limit": limit, "lease": LEASE, "recipient": recipient_id}
    taken = db.rows("inbox_reports_claim", values)
    if not taken:
        return []
    rows = db.rows("inbox_reports_items", {"ids": [row["item_id"] for row in taken]})
    items = {row.pop("id"): row for row in rows}
    return [InboxReport(**row, **items.get(row["item_id"], _NO_ITEM)) for row in taken]


def end(reports: Sequence[InboxReport]) -> int:
    """Delete processed reports and return the number; a report that came again stays.

    Safe to run twice. Without it the report is claimed again at the end of the lease.
    """
    if not reports:
        return 0
    columns = {
        "items": [report.item_id for report in reports],
        "due": [report.due_at for report in reports],
    }
    return db.run("inbox_reports_end", columns)
