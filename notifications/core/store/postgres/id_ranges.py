"""Spans: the ranges of delivery ids in which a sweep has to look for due rows.

A range is `{"floor": UUID, "ceiling": UUID}`, computed in Python so that the planner leaves out all
other partitions. The first range goes from yesterday to tomorrow. An older day is a range of its
own while a row of the day is due.

A process looks at the older days every LOOK_EVERY seconds, for rows that come due before the next
look. So an old row that becomes due in another way (a replay) is seen at most LOOK_EVERY seconds
late.
"""

from __future__ import annotations

import datetime as dt
from collections.abc import Collection, Iterable, Mapping, Sequence
from itertools import pairwise
from operator import attrgetter
from typing import Final, Protocol
from uuid import UUID

from psycopg import sql

from notifications.core import clock
from notifications.core.rules import ids
from notifications.core.rules.lane import LANES
from notifications.core.rules.states import OPEN, Status
from notifications.core.store.postgres import db, partitions

Span = dict[str, UUID]
"""`floor` (inclusive) and `ceiling` (exclusive) of delivery ids."""

LOOK_EVERY: Final = 15.0
"""Seconds between two looks at the older days; a look costs under a millisecond a day."""
_AHEAD: Final = dt.timedelta(seconds=LOOK_EVERY + 5)
_DAY: Final = dt.timedelta(days=1)
_GAP: Final = (_DAY // dt.timedelta(milliseconds=1)) << 80
"""A day, as the difference between two ids: the upper 48 bits are milliseconds."""
_NUMBER: Final = attrgetter("int")
"""Compares ids in C; `UUID.__lt__` is Python."""
_WITH_DUE_TIME: Final = sorted({*OPEN, Status.SENT, Status.UNKNOWN})
_DUE_SOON: Final = sql.SQL(
    "SELECT 1 FROM unnest(%(statuses)s::smallint[]) AS s(status)"
    " CROSS JOIN unnest(%(modes)s::smallint[], %(priorities)s::smallint[],"
    " %(channels)s::smallint[]) AS l(mode, priority, channel)"
    " CROSS JOIN LATERAL (SELECT 1 FROM {} d WHERE d.status = s.status AND d.mode = l.mode"
    " AND d.priority = l.priority AND d.channel = l.channel AND d.due_at <= now() + %(ahead)s"
    " ORDER BY d.due_at LIMIT 1) one LIMIT 1"
)


LANE_COLUMNS: Final[Mapping[str, list[int]]] = {
    "modes": [lane.mode for lane in LANES],
    "priorities": [lane.priority for lane in LANES],
    "channels": [lane.channel for lane in LANES],
}
"""All lanes as parameters of a statement: three arrays side by side."""
_ONE_OPEN: Final = sql.SQL(
    # In the order of delivery_due, so that the planner takes that index and reads one entry.
    "(SELECT {} AS day FROM {} WHERE due_at IS NOT NULL"
    " ORDER BY status, mode, priority, channel, due_at LIMIT 1)"
)


class HasId(Protocol):
    """A row with an id of a notification or delivery."""

    @property
    def id(self) -> UUID:
        """The id."""


class _Ranges:
    """The ranges to sweep, with the answer of this process's last look at the older days."""

    def __init__(self) -> None:
        self._looked_at = float("-inf")
        self._older: list[dt.date] = []

    def current(self) -> list[Span]:
        """Return the ranges to sweep now, the recent days first."""
        yesterday = clock.now().date() - _DAY
        if clock.monotonic() - self._looked_at > LOOK_EVERY:
            days = [day for day in partitions.existing() if day < yesterday]
            self._older = [day for day in _with_open_rows(days) if _is_due(day)]
            self._looked_at = clock.monotonic()
        older = [_range(day, day + _DAY) for day in self._older if day < yesterday]
        return [_range(yesterday, yesterday + 3 * _DAY), *older]

    def whole(self) -> Span:
        """Return the smallest range around all ranges to sweep now."""
        spans = self.current()
        return {
            "floor": min(each["floor"] for each in spans),
            "ceiling": max(each["ceiling"] for each in spans),
        }

    def forget(self) -> None:
        """Look at the older days again on the next use."""
        self._looked_at = float("-inf")


_spans = _Ranges()
current = _spans.current
whole = _spans.whole
forget = _spans.forget


def open_days() -> list[dt.date]:
    """Return the days with an open delivery, and today, oldest first."""
    return sorted({*_with_open_rows(partitions.existing()), clock.now().date()})


def around(any_ids: Collection[UUID]) -> Span:
    """Return the range of whole days from the smallest to the largest id; at least one id."""
    first, last = min(any_ids, key=_NUMBER), max(any_ids, key=_NUMBER)
    return _range(ids.day_of(first), ids.day_of(last) + _DAY)


def stretches(rows: Sequence[HasId]) -> list[slice]:
    """Return the parts of rows, in the order of the ids, between gaps of over a day; at least one.

    A range around distant days makes the planner plan each day between.
    """
    numbers = [each.id.int for each in rows]
    gaps = [place for place, (one, next_) in enumerate(pairwise(numbers), 1) if next_ - one > _GAP]
    return [slice(start, end) for start, end in pairwise([0, *gaps, len(rows)])]


def by_day(any_ids: Iterable[UUID]) -> list[tuple[Span, list[UUID]]]:
    """Return the range of each day, with the ids of the day."""
    days: dict[dt.date, list[UUID]] = {}
    for each in any_ids:
        days.setdefault(ids.day_of(each), []).append(each)
    return [(_range(day, day + _DAY), days[day]) for day in sorted(days)]


def last_days(days: int) -> Span:
    """Return the range from so many days before today to the end of tomorrow."""
    today = clock.now().date()
    return _range(today - days * _DAY, today + 2 * _DAY)


def is_recent(span: Span) -> bool:
    """Return True if a range is the first of `current`, or was before midnight."""
    return span["ceiling"] > ids.floor_of(clock.now().date())


def _range(first: dt.date, end: dt.date) -> Span:
    return {"floor": ids.floor_of(first), "ceiling": ids.floor_of(end)}


def _with_open_rows(days: Sequence[dt.date]) -> list[dt.date]:
    """Return the days with an open row."""
    if not days:
        return []
    each = [_ONE_OPEN.format(day.isoformat(), _table(day)) for day in days]
    with db.cursor() as running:
        running.execute(sql.SQL(" UNION ALL ").join(each))
        return sorted(dt.date.fromisoformat(row["day"]) for row in running.fetchall())


def _table(day: dt.date) -> sql.Identifier:
    return sql.Identifier(f"delivery_{day:%Y%m%d}")


def _is_due(day: dt.date) -> bool:
    """Return True if a row of the day is due before the next look."""
    statement = _DUE_SOON.format(_table(day))
    with db.cursor() as running:
        running.execute(statement, {**LANE_COLUMNS, "statuses": _WITH_DUE_TIME, "ahead": _AHEAD})
        return running.fetchone() is not None
