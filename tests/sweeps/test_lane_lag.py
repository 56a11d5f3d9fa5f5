"""The sample of the lag of each lane, and the alerts about it."""

from __future__ import annotations

import datetime as dt
from collections.abc import Sequence
from uuid import UUID

import pytest

from notifications.core import clock
from notifications.core.models import Alert, Delivery
from notifications.core.rules import ids
from notifications.core.rules import lane_lag as lag_rules
from notifications.core.rules.alerts import AlertKind
from notifications.core.rules.lane import Lane, Mode, Priority
from notifications.core.rules.states import Status
from notifications.core.store.postgres import backlog, db, id_ranges, lane_lag
from notifications.core.sweeps import lane_lag as sweep
from providers.contract import Channel
from tests.sweeps.conftest import MakeRow

_SMS = Lane(Mode.LIVE, Priority.P3, Channel.SMS)
_HOUR = dt.timedelta(hours=1)


def _run() -> None:
    id_ranges.forget()
    sweep.run_once(now=clock.now(), limit=100)


@pytest.fixture(autouse=True)
def _old_ids(monkeypatch: pytest.MonkeyPatch) -> None:
    """Let rows count from their due time: a row is born just now."""
    long_ago = clock.now() - dt.timedelta(days=9)
    monkeypatch.setattr(ids, "time_of", lambda _id: long_ago)


def test_the_sample_has_the_number_and_the_age_of_the_oldest(make_row: MakeRow) -> None:
    for minutes in (10, 70, 30):
        due_at = clock.now() - dt.timedelta(minutes=minutes)
        make_row(priority=Priority.P3, channel=Channel.SMS, due_at=due_at)
    make_row(priority=Priority.P3, channel=Channel.SMS, due_at=clock.now() + _HOUR)
    _run()
    [lag] = lane_lag.newest(now=clock.now())
    assert (lag.lane, lag.waiting, lag.is_estimate) == (_SMS, 3, False)
    assert dt.timedelta(minutes=69) < lag.behind < dt.timedelta(minutes=71)
    Delivery.objects.update(status=Status.SENT, due_at=None)
    _run()
    [lag] = lane_lag.newest(now=clock.now())
    assert (lag.waiting, lag.behind) == (0, dt.timedelta(0))


def test_an_old_sample_is_not_shown(make_row: MakeRow) -> None:
    make_row(priority=Priority.P3, channel=Channel.SMS)
    _run()
    make_row(priority=Priority.P3, channel=Channel.SMS)
    assert [each.waiting for each in lane_lag.newest(now=clock.now())] == [1]
    later = clock.now() + lane_lag.FRESH * 2
    [lag] = lane_lag.newest(now=later)
    assert (lag.waiting, lag.sampled_at) == (2, later)


@pytest.mark.usefixtures("whole_tables")
def test_a_large_lag_is_estimated_from_a_sample_of_the_table(
    make_row: MakeRow, monkeypatch: pytest.MonkeyPatch
) -> None:
    for _ in range(30):
        make_row(priority=Priority.P3, channel=Channel.SMS)
    [lag] = backlog.estimate(backlog.of_lanes(counted=10))
    assert (lag.due, lag.is_bounded) == (30, True)  # a small table is read as a whole
    monkeypatch.setattr(backlog, "_SAMPLED_PAGES", 0.000_001)
    [lag] = backlog.estimate(backlog.of_lanes(counted=10))
    assert (lag.due, lag.is_estimate) == (10, True)  # no page was met: at least those counted


def test_a_new_row_at_the_front_hides_no_older_row(
    make_row: MakeRow, monkeypatch: pytest.MonkeyPatch
) -> None:
    place = clock.now() - 3 * _HOUR
    new = make_row(priority=Priority.P3, channel=Channel.SMS, due_at=place)
    make_row(priority=Priority.P3, channel=Channel.SMS, due_at=place + dt.timedelta(seconds=1))
    born = clock.now()
    monkeypatch.setattr(ids, "time_of", lambda each: born if each == new else born - 3 * _HOUR)
    [lag] = backlog.of_lanes()
    assert lag.behind > 2 * _HOUR


def test_due_rows_of_many_days_are_read_by_one_statement(
    make_row: MakeRow, monkeypatch: pytest.MonkeyPatch
) -> None:
    today = clock.now().date()
    spans = id_ranges.current()
    older = [today - dt.timedelta(days=days) for days in (3, 20, 40)]
    spans += [
        {"floor": ids.floor_of(day), "ceiling": ids.floor_of(day + dt.timedelta(days=1))}
        for day in older
    ]
    monkeypatch.setattr(id_ranges._spans, "current", lambda: spans)
    make_row(priority=Priority.P3, channel=Channel.SMS)
    statements = []
    rows = db.rows

    def counted(name: str, parameters: dict[str, object]) -> object:
        statements.append((name, parameters["floor"]))
        return rows(name, parameters)

    monkeypatch.setattr(db, "rows", counted)
    assert [each.due for each in backlog.of_lanes()] == [1]
    assert statements == [("backlog_lanes", ids.floor_of(older[-1]))]


def test_a_large_lag_of_p2_recommends_workers(
    make_row: MakeRow, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(lag_rules, "SCALE_WAITING", 10)
    made = [make_row(priority=Priority.P2, channel=Channel.SMS) for _ in range(20)]
    _run()
    alert = Alert.objects.get(kind=AlertKind.WORKERS_WANTED, resolved_at=None)
    assert (alert.subject, alert.detail) == ("P2", "20 wait; 16 worker processes are recommended")
    _end(made[:12])
    _run()
    assert not Alert.objects.filter(kind=AlertKind.WORKERS_WANTED, resolved_at=None).exists()


def test_more_waiting_deliveries_than_planned_for_are_an_alert_until_they_have_left(
    make_row: MakeRow, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setitem(lag_rules.SIZES, Priority.P0, 10)
    made = [
        make_row(priority=Priority.P0, channel=channel)
        for channel in (Channel.SMS, Channel.PUSH)
        for _ in range(6)
    ]
    _run()
    alert = Alert.objects.get(resolved_at=None)
    assert (alert.kind, alert.subject) == (AlertKind.QUEUE_OVERSIZED, "P0")
    assert alert.detail == "12 wait; planned for 10"
    _end(made[:3])
    _run()
    assert Alert.objects.filter(resolved_at=None).exists(), "over 80 % of the size"
    _end(made[3:])
    _run()
    assert not Alert.objects.filter(resolved_at=None).exists()


def _end(made: Sequence[UUID]) -> None:
    Delivery.objects.filter(id__in=made).update(status=Status.SENT, due_at=None)
