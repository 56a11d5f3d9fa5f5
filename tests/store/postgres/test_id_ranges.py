"""The ranges that sweeps look at have the days with rows, and no empty partition at midday."""

from __future__ import annotations

import datetime as dt
from collections.abc import Callable, Iterator, Sequence
from typing import Any, Final

import pytest
from django.db import connection
from psycopg import sql

from notifications.core import clock
from notifications.core.rules import ids
from notifications.core.rules.lane import Lane, Mode, Priority
from notifications.core.rules.states import Status
from notifications.core.store.postgres import arrays, db, id_ranges, partitions
from providers.contract import Channel

_DAY: Final = dt.timedelta(days=1)
_ROWS: Final = 5_000
_LANE: Final = Lane(Mode.LIVE, Priority.P3, Channel.PUSH)
_TODAY: Final = dt.date(2035, 3, 10)
_NOON: Final = dt.time(12)
pytestmark = pytest.mark.django_db

SetTime = Callable[[dt.time], None]


@pytest.fixture(autouse=True)
def _no_old_answers() -> Iterator[None]:
    id_ranges.forget()
    yield
    id_ranges.forget()


@pytest.fixture
def set_time(monkeypatch: pytest.MonkeyPatch) -> SetTime:
    """Set the time of `_TODAY`."""

    def set_to(time: dt.time) -> None:
        now = dt.datetime.combine(_TODAY, time, tzinfo=dt.UTC)
        monkeypatch.setattr(clock, "now", lambda: now)

    return set_to


def _store(day: dt.date, count: int = 1) -> None:
    """Store due deliveries with ids of a day."""
    partitions.ensure(day, days=0)
    first = str(ids.floor_of(day))[:13]
    with connection.cursor() as cursor:
        cursor.execute(
            "INSERT INTO delivery (id, mode, priority, channel, status, recipient_id, due_at)"
            " SELECT (%s || '-7000-8000-' || lpad(to_hex(n), 9, '0') || '001')::uuid, %s, %s, %s,"
            " %s, n, now() - interval '1 hour' FROM generate_series(1, %s) n",
            [first, _LANE.mode, _LANE.priority, _LANE.channel, Status.QUEUED, count],
        )


@pytest.mark.parametrize(
    ("time", "with_rows", "expected"),
    [
        (_NOON, [], [0]),
        (_NOON, [0], [0]),
        (_NOON, [-1, 0], [-1, 0]),
        (_NOON, [1], [0, 1]),
        (_NOON, [-1, 1], [-1, 0, 1]),
        (dt.time(0, 9), [], [-1, 0]),
        (dt.time(0, 10), [], [0]),
        (dt.time(23, 49), [], [0]),
        (dt.time(23, 50), [], [0, 1]),
    ],
)
def test_the_recent_days_are_those_with_rows_and_those_around_midnight(
    set_time: SetTime, time: dt.time, with_rows: Sequence[int], expected: Sequence[int]
) -> None:
    set_time(time)
    for each in with_rows:
        _store(_TODAY + each * _DAY)
    (recent,) = id_ranges.current()
    assert ids.day_of(recent["floor"]) == _TODAY + expected[0] * _DAY
    assert ids.day_of(recent["ceiling"]) == _TODAY + (expected[-1] + 1) * _DAY


def test_an_older_day_is_a_range_only_while_a_row_is_due(set_time: SetTime) -> None:
    set_time(_NOON)
    day = _TODAY - 2 * _DAY
    _store(day)
    with connection.cursor() as cursor:
        change = "UPDATE delivery SET due_at = now() + %s::interval WHERE id >= %s AND id < %s"
        span = [ids.floor_of(day), ids.floor_of(day + _DAY)]
        cursor.execute(change, ["30 days", *span])
        assert len(id_ranges.current()) == 1
        cursor.execute(change, ["0 days", *span])
    id_ranges.forget()
    _, older = id_ranges.current()
    assert older == dict(zip(("floor", "ceiling"), span, strict=True))


def test_the_range_of_a_message_from_before_midnight_is_recent(set_time: SetTime) -> None:
    set_time(_NOON)
    (recent,) = id_ranges.current()
    assert id_ranges.is_recent(recent)
    older = {"floor": ids.floor_of(_TODAY - 2 * _DAY), "ceiling": ids.floor_of(_TODAY - _DAY)}
    assert not id_ranges.is_recent(older)
    assert id_ranges.is_recent({**older, "ceiling": ids.floor_of(_TODAY)})


def test_a_slow_look_does_not_replace_the_answer_of_a_later_look(
    set_time: SetTime, monkeypatch: pytest.MonkeyPatch
) -> None:
    set_time(_NOON)
    partitions.ensure(_TODAY - _DAY, days=0)
    look = id_ranges._days_of
    seconds = iter([1.0, 1.0, 2.0, 2.0])

    def slow(question: sql.SQL, days: Sequence[dt.date]) -> list[dt.date]:
        found = look(question, days)
        monkeypatch.setattr(id_ranges, "_days_of", look)
        _store(_TODAY - _DAY)
        id_ranges.current()  # another thread looks meanwhile
        return found

    monkeypatch.setattr(clock, "monotonic", lambda: next(seconds, 3.0))
    monkeypatch.setattr(id_ranges, "_days_of", slow)
    (recent,) = id_ranges.current()
    assert ids.day_of(recent["floor"]) == _TODAY - _DAY


def test_what_waits_is_read_in_order_although_the_partitions_were_analyzed_while_empty(
    set_time: SetTime,
) -> None:
    set_time(_NOON)
    partitions.ensure(_TODAY - _DAY, days=2)
    with connection.cursor() as cursor:
        cursor.execute("ANALYZE delivery")
    _store(_TODAY, _ROWS)
    (recent,) = id_ranges.current()
    lanes = {**id_ranges.LANE_COLUMNS, **recent}
    lane = {**_LANE.columns, **recent, "queued": Status.QUEUED}
    within = {"sweeps": ["relay"], "statuses": [Status.QUEUED], "within_seconds": [0.0]}
    asked: list[tuple[str, dict[str, Any]]] = [
        ("lock_due", {**lane, "rows": 500}),
        ("count_due", {**lane, "most": 12_000}),
        ("lanes_due", {**lanes, "status": Status.QUEUED, "within": dt.timedelta(0)}),
        ("work_due_rows", {**lanes, **within}),
    ]
    for name, parameters in asked:
        with db.cursor() as running:
            running.execute(f"EXPLAIN {db.statement(name)}", arrays.bound(parameters))
            plan = "\n".join(row["QUERY PLAN"] for row in running.fetchall())
        assert "Sort" not in plan, (name, plan)
