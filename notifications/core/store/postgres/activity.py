"""Activity: the newest deliveries of all producers, with filters, for operators.

A page reads at most SCANNED rows and begins no read after SCAN_SECONDS, so a page with a rare
filter can have fewer lines than the limit and still have a next page. `ActivityPage.scanned_to` is
the instant at which the scan ended.
"""

from __future__ import annotations

import datetime as dt
import time
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Final
from uuid import UUID

from notifications.core.rules import ids
from notifications.core.rules.lane import Mode, Priority
from notifications.core.rules.states import Status
from notifications.core.store.postgres import db
from providers.contract import Channel

SCANNED: Final = 10_000
"""Upper bound of deliveries read for a page."""
SCAN_SECONDS: Final = 0.1
"""A page reads no further rows after this time."""
_ROWS_PER_READ: Final = 2_500
_LAST: Final = UUID(int=2**128 - 1)


@dataclass(frozen=True, slots=True, kw_only=True)
class ActivityQuery:
    """Filters of the list; None or empty means no filter."""

    since: dt.datetime
    status: Status | None = None
    channel: Channel | None = None
    provider: str = ""
    reason: str = ""
    type: str = ""
    templates: Sequence[int] | None = None
    """Ids of all versions of a template."""
    producer_id: int | None = None
    mode: Mode | None = None
    priority: Priority | None = None
    word: str = ""
    """A notification type, an idempotency key, or the whole value of a variable or of metadata."""


@dataclass(frozen=True, slots=True, kw_only=True)
class ActivityLine:
    """A delivery with its notification."""

    delivery_id: UUID
    channel: Channel
    status: Status
    reason: str
    provider: str
    due_at: dt.datetime | None
    notification_id: UUID
    created_at: dt.datetime
    user_id: str
    recipient_id: int
    type: str
    priority: Priority
    mode: Mode
    producer_id: int
    template: int | None
    """Id of the template version; None for a text of the producer."""
    title: str | None
    """Title of a text of the producer."""


@dataclass(frozen=True, slots=True, kw_only=True)
class ActivityPage:
    """A page of the list."""

    lines: Sequence[ActivityLine]
    before: UUID | None = None
    """Cursor of the next page; None: last page."""
    scanned_to: dt.datetime | None = None
    """The instant at which the scan ended before the time span did; None: nothing was left out."""
    scanned: int = 0
    """Deliveries that a scan with `scanned_to` read."""


def cursor_at(instant: dt.datetime) -> UUID:
    """Return a cursor: `page` returns the deliveries accepted before the instant."""
    return ids.notification_id(at_ms=int(instant.timestamp() * 1000), entropy=0)


def page(wanted: ActivityQuery, *, limit: int, before: UUID | None = None) -> ActivityPage:
    """Return a page, newest first."""
    lines: list[ActivityLine] = []
    below, scanned = before or _LAST, 0
    floor, filters = cursor_at(wanted.since), _filters(wanted)
    ends_at = time.monotonic() + SCAN_SECONDS
    while True:
        read = min(_ROWS_PER_READ, SCANNED - scanned)
        bounds = {"below": below, "floor": floor, "scanned": read}
        rows = db.rows("activity", {**bounds, **filters, "limit": limit - len(lines)})
        lines += map(_line, rows)
        if len(lines) == limit:
            return ActivityPage(lines=lines, before=lines[-1].delivery_id)
        read_to = db.rows("activity_scan_end", bounds)
        if not read_to:
            return ActivityPage(lines=lines)
        below, scanned = read_to[0]["id"], scanned + read
        if scanned >= SCANNED or time.monotonic() >= ends_at:
            end = ids.time_of(below)
            return ActivityPage(lines=lines, before=below, scanned_to=end, scanned=scanned)


def _filters(wanted: ActivityQuery) -> dict[str, object]:
    return {
        "status": wanted.status,
        "channel": wanted.channel,
        "provider": wanted.provider or None,
        "reason": wanted.reason or None,
        "type": wanted.type or None,
        "templates": None if wanted.templates is None else list(wanted.templates),
        "producer": wanted.producer_id,
        "mode": wanted.mode,
        "priority": wanted.priority,
        "word": wanted.word or None,
    }


def of(deliveries: Sequence[UUID]) -> list[ActivityLine]:
    """Return some deliveries, newest first; unknown ids are missing."""
    return [_line(row) for row in db.rows("activity_of", {"deliveries": list(deliveries)})]


def _line(row: dict[str, Any]) -> ActivityLine:
    enums = {
        "channel": Channel(row["channel"]),
        "status": Status(row["status"]),
        "priority": Priority(row["priority"]),
        "mode": Mode(row["mode"]),
    }
    return ActivityLine(**row | enums)
