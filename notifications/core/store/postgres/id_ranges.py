"""Spans: the ranges of delivery ids in which a sweep has to look for due rows.

A range is `{"floor": UUID, "ceiling": UUID}`, computed in Python so that the planner leaves out all
other partitions. The first range has today, and yesterday and tomorrow if they have rows or
midnight is near. An older day is a range of its own while a row of the day is due.

An empty partition is left out: once an empty partition has been analyzed, the planner reads it for
nothing, therefore prefers no index, and sorts all that waits in the other partitions. Around
midnight, and until the first row of a day, a range may have an empty partition.

A process looks at the other days every LOOK_EVERY seconds, for rows that come due before the next
look. So an old row that becomes due in another way (a replay), and the first row of a host whose
clock is a day ahead, are seen at most LOOK_EVERY seconds late.
"""

from __future__ import annotations

import datetime as dt
import threading
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
"""Seconds between two looks at the other days; a look costs under a millisecond a day."""
_AHEAD: Final = dt.timedelta(seconds=LOOK_EVERY + 5)
_DAY: Final = dt.timedelta(days=1)
_NEAR_MIDNIGHT: Final = dt.timedelta(minutes=10)
"""Time around midnight in which rows of both days appear: transactions end late, clocks differ."""
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
_ONE: Final = sql.SQL("(SELECT {} AS day FROM {} LIMIT 1)")


class HasId(Protocol):
    """A row with an id of a notification or delivery."""

    @property
    def id(self) -> UUID:
        """The id."""


class _Ranges:
    """The ranges to sweep, with the answers of this process's last look at the other days."""

    def __init__(self) -> None:
        self._looked_at = float("-inf")
        self._older: list[dt.date] = []
        self._with_rows: set[dt.date] = set()
        self._generation = 0
        self._lock = threading.Lock()

    def current(self) -> list[Span]:
        """Return the ranges to sweep now, the recent days first."""
        now = clock.now()
        yesterday = now.date() - _DAY
        if clock.monotonic() - self._looked_at > LOOK_EVERY:
            self._look(yesterday)
        older = [_range(day, day + _DAY) for day in self._older if day < yesterday]
        return [self._recent(now), *older]

    def _look(self, yesterday: dt.date) -> None:
        start, generation = clock.monotonic(), self._generation
        days = partitions.existing()
        others = [day for day in days if day in {yesterday, yesterday + 2 * _DAY}]
        with_rows = set(_days_of(_ONE, others))
        older = _days_of(_ONE_OPEN, [day for day in days if day < yesterday])
        older = [day for day in older if _is_due(day)]
        with self._lock:  # a slow look of another thread must not hide a row that this one has seen
            if start >= self._looked_at:
                self._with_rows, self._older = with_rows, older
                self._looked_at = start if generation == self._generation else float("-inf")

    def _recent(self, now: dt.datetime) -> Span:
        first, last = (now - _NEAR_MIDNIGHT).date(), (now + _NEAR_MIDNIGHT).date()
        if now.date() - _DAY in self._with_rows:
            first = now.date() - _DAY
        if now.date() + _DAY in self._with_rows:
            last = now.date() + _DAY
        return _range(first, last + _DAY)

    def whole(self) -> Span:
        """Return the smallest range around all ranges to sweep now."""
        spans = self.current()
        return {
            "floor": min(each["floor"] for each in spans),
            "ceiling": max(each["ceiling"] for each in spans),
        }

    def forget(self) -> None:
        """Look at the other days again on the next use."""
        with self._lock:
            self._generation += 1
            self._looked_at = float("-inf")


_spans = _Ranges()
current = _spans.current
whole = _spans.whole
forget = _spans.forget


def open_days() -> list[dt.date]:
    """Return the days with an open delivery, and today, oldest first."""
    return sorted({*_days_of(_ONE_OPEN, partitions.existing()), clock.now().date()})


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
    return span["ceiling"] >= ids.floor_of(clock.now().date())


def _range(first: dt.date, end: dt.date) -> Span:
    return {"floor": ids.floor_of(first), "ceiling": ids.floor_of(end)}


def _days_of(question: sql.SQL, days: Sequence[dt.date]) -> list[dt.date]:
    """Return the days of the partitions for which a question has a row, oldest first."""
    if not days:
        return []
    each = [question.format(day.isoformat(), _table(day)) for day in days]
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
