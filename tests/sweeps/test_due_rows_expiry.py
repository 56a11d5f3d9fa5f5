"""Rows that no worker takes end: over their time to live, or with as many claims as none takes."""

from __future__ import annotations

import datetime as dt
from uuid import UUID

import pytest
import redis

from celeryconfig import KEY_PREFIX
from notifications.core import clock
from notifications.core.models import Alert, DeadLetter, Delivery, Notification
from notifications.core.rules.alerts import AlertKind
from notifications.core.rules.ids import notification_of
from notifications.core.rules.lane import Lane, Mode, Priority
from notifications.core.rules.states import Status
from notifications.core.rules.suspects import POISON_AFTER
from notifications.core.store.cached import paused_lanes
from notifications.core.store.postgres import alerts, unreachable
from notifications.core.sweeps import dead_letters, due_rows, relay, service_levels
from notifications.core.sweeps.rounds import Swept
from providers.contract import Channel
from tests.sweeps.conftest import MakeRow

_LANE = Lane(Mode.LIVE, Priority.P1, Channel.PUSH)
_QUEUE = f"{KEY_PREFIX}{_LANE.name}"
_MINUTE = dt.timedelta(minutes=1)


def _end_life(*rows: UUID) -> None:
    of = [notification_of(each) for each in rows]
    Notification.objects.filter(id__in=of).update(expires_at=clock.now() - _MINUTE)


def _status(row: UUID) -> tuple[Status, str]:
    found = Delivery.objects.get(id=row)
    return Status(found.status), found.reason


def _relay() -> Swept:
    return relay.run_once(now=clock.now(), limit=100)


def test_a_due_row_over_its_time_expires_though_no_worker_comes(make_row: MakeRow) -> None:
    before = clock.now() - _MINUTE
    rows = [make_row(due_at=before) for _ in range(5)]
    fresh = make_row(due_at=clock.now())
    _end_life(*rows[3:], fresh)
    assert due_rows.expire(now=clock.now(), limit=2) == Swept(2)
    assert [_status(each)[0] for each in rows] == [Status.QUEUED] * 3 + [Status.EXPIRED] * 2
    assert _status(fresh)[0] is Status.QUEUED, "a worker has its chance first"


def test_the_cost_of_a_run_is_bounded_and_the_next_run_goes_on(
    make_row: MakeRow, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(due_rows, "_EXPIRY_PAGES", 1)
    before = clock.now() - _MINUTE
    rows = [make_row(due_at=before) for _ in range(5)]  # one due time: the id orders the rows
    _end_life(rows[4])
    ended = [due_rows.expire(now=clock.now(), limit=2).moved for _ in range(3)]
    assert ended == [0, 0, 1]
    _end_life(rows[0])
    assert due_rows.expire(now=clock.now(), limit=2) == Swept(1)


def test_the_relay_expires_what_it_has_published_before(
    make_row: MakeRow, broker: redis.Redis
) -> None:
    row = make_row(priority=Priority.P1, publishes=1)
    _end_life(row)
    _relay()
    assert _status(row) == (Status.EXPIRED, "ttl_passed")
    assert broker.llen(_QUEUE) == 0


@pytest.mark.usefixtures("broker")
def test_the_relay_expires_what_a_failed_task_has_returned(make_row: MakeRow) -> None:
    rows = [
        make_row(priority=Priority.P1, due_at=clock.now(), reason=reason)
        for reason in ("task_failed", "")
    ]
    _end_life(*rows)
    _relay()
    assert [_status(each)[0] for each in rows] == [Status.EXPIRED, Status.QUEUED]


def test_the_relay_ends_a_row_that_no_claim_takes(make_row: MakeRow, broker: redis.Redis) -> None:
    row = make_row(priority=Priority.P1, claims=POISON_AFTER)
    assert [each.fault for each in unreachable.find()] == ["claims"]
    _relay()
    assert _status(row) == (Status.FAILED, "poison")
    assert DeadLetter.objects.get(delivery_id=row).reason == "poison"
    assert broker.llen(_QUEUE) == 0
    assert unreachable.find() == []


def test_poison_raises_an_alert_until_its_dead_letter_is_handled(
    make_row: MakeRow, broker: redis.Redis
) -> None:
    del broker  # emptied before and after
    row = make_row(priority=Priority.P1, claims=POISON_AFTER)
    _relay()
    dead_letters.run_once(now=clock.now(), limit=10)
    assert str(row) in Alert.objects.get(kind=AlertKind.POISON, resolved_at=None).detail
    DeadLetter.objects.update(resolved_at=clock.now())
    dead_letters.run_once(now=clock.now(), limit=10)
    assert not Alert.objects.filter(kind=AlertKind.POISON, resolved_at=None).exists()


def test_a_row_whose_task_failed_is_published_alone(make_row: MakeRow, broker: redis.Redis) -> None:
    for reason in ("task_failed", "task_failed", "", ""):
        make_row(priority=Priority.P1, reason=reason)
    _relay()
    assert broker.llen(_QUEUE) == 3


def test_a_paused_lane_gets_one_row_while_the_broker_has_none(
    make_row: MakeRow, broker: redis.Redis
) -> None:
    for _ in range(3):
        make_row(priority=Priority.P1)
    alerts.raise_once(AlertKind.LANE_PAUSED, _LANE.name, "UndefinedColumn")
    paused_lanes.forget()
    assert [_relay().moved, _relay().moved] == [1, 0]
    broker.delete(_QUEUE)
    assert _relay().moved == 1
    alerts.resolve(AlertKind.LANE_PAUSED, _LANE.name)
    paused_lanes.forget()
    broker.delete(_QUEUE)
    assert _relay().moved == 1, "the published ones wait for their worker"


@pytest.mark.parametrize(
    ("status", "columns", "fault"),
    [
        (Status.QUEUED, {"due_at": None}, "no_due_time"),
        (Status.RETRYING, {"claims": POISON_AFTER}, "claims"),
        (Status.QUEUED, {"publishes": 20}, "never_claimed"),
        (Status.SENDING, {"due_at": dt.timedelta(hours=1)}, "due_too_late"),
        (Status.QUEUED, {"due_at": dt.timedelta(hours=7)}, "due_too_late"),
        (Status.SCHEDULED, {"due_at": dt.timedelta(hours=5)}, "due_too_late"),
        (Status.UNKNOWN, {"due_at": dt.timedelta(hours=30)}, "due_too_late"),
        (Status.FAILED, {"due_at": dt.timedelta(0)}, "never_final"),
    ],
)
def test_a_row_that_no_statement_moves_is_told_with_its_fault(
    make_row: MakeRow, status: Status, columns: dict[str, object], fault: str
) -> None:
    make_row()
    make_row(Status.SCHEDULED, due_at=clock.now() + _MINUTE)
    make_row(Status.SENDING, due_at=clock.now() + _MINUTE)
    make_row(Status.FAILED, due_at=None)
    if isinstance(due_in := columns.get("due_at"), dt.timedelta):
        columns = {**columns, "due_at": clock.now() + due_in}
    row = make_row(status, **columns)
    assert unreachable.find() == [(row, fault)]
    service_levels.run_once(now=clock.now(), limit=100)
    alert = Alert.objects.get(kind=AlertKind.DELIVERIES_UNREACHABLE, resolved_at=None)
    assert f"{row} ({fault})" in alert.detail
    Delivery.objects.filter(id=row).update(status=Status.CANCELLED, due_at=None, claims=0)
    service_levels.run_once(now=clock.now(), limit=100)
    assert not Alert.objects.filter(
        kind=AlertKind.DELIVERIES_UNREACHABLE, resolved_at=None
    ).exists()
