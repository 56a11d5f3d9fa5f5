"""What was scheduled leaves once on each channel, however its rows are spread over batches."""

from __future__ import annotations

import datetime as dt
from collections import Counter
from collections.abc import Callable
from typing import Any
from uuid import UUID

import psycopg
import pytest
from django.db import connection
from psycopg import sql

from notifications.core import clock
from notifications.core.intake.accept import AcceptedRequest, Caller
from notifications.core.models import Delivery, Event, Notification
from notifications.core.rules import ids
from notifications.core.rules.lane import Lane, Mode, Priority
from notifications.core.rules.states import Status
from notifications.core.scheduling import release as pipeline
from notifications.core.store.postgres import fair_queue, id_ranges
from notifications.core.store.redis import state
from notifications.core.sweeps import SWEEPS, release, rounds
from notifications.core.sweeps.rounds import Swept
from providers.contract import Channel
from tests.journey import Accept, Reach, deliveries_of

_HOUR = dt.timedelta(hours=1)


@pytest.fixture(autouse=True)
def _unhurried(monkeypatch: pytest.MonkeyPatch) -> None:
    """A sweep gets as far on a slow machine as on a fast one."""
    monkeypatch.setattr(rounds, "SECONDS", 60.0)


@pytest.fixture
def later(take: Accept) -> Callable[..., UUID]:
    """Accept a notification for later; returns its id."""

    def accepted(**fields: object) -> UUID:
        at = (clock.now() + _HOUR).isoformat()
        answer = take(scheduled_at=at, **fields)
        assert isinstance(answer, AcceptedRequest), answer
        return UUID(answer.response["notification_id"])

    return accepted


def _let_time_pass() -> None:
    Delivery.objects.filter(status=Status.SCHEDULED).update(due_at=clock.now() - _HOUR)


def _sweep(limit: int) -> Swept:
    return release.run_once(now=clock.now(), limit=limit)


def _of(notification_id: UUID) -> list[tuple[int, int]]:
    """Channel and status of each delivery."""
    rows = Delivery.objects.filter(
        id__gt=notification_id, id__lte=ids.last_delivery_of(notification_id)
    )
    return sorted(rows.values_list("channel", "status"))


@pytest.mark.parametrize("limit", [1, 2, 3, 500])
def test_a_channel_gets_one_delivery_whatever_batch_its_row_is_in(
    limit: int, reach: Reach, later: Callable[..., UUID]
) -> None:
    reach(push="phone", sms="+15551234567", email="maria@sandbox.example")
    for _ in range(4):
        later(channels=["push"])
    both = [later(channels=["push", "sms"], delivery="all") for _ in range(3)]
    _let_time_pass()
    for _ in range(5):
        _sweep(limit)
    each = [(Channel.PUSH, Status.QUEUED), (Channel.SMS, Status.QUEUED)]
    assert [_of(one) for one in both] == [each] * 3
    assert not Delivery.objects.filter(status=Status.SCHEDULED).exists()


def test_further_devices_get_rows_of_their_own_once(
    reach: Reach, later: Callable[..., UUID]
) -> None:
    reach(push=["phone", "tablet"], sms="+15551234567")
    one = later(channels=["push", "sms"], delivery="all")
    _let_time_pass()
    rows = list(Delivery.objects.filter(status=Status.SCHEDULED).values())
    for row in rows:  # as two batches would
        pipeline.resolve([dict(row)])
    queued = Counter(channel for channel, status in _of(one) if status == Status.QUEUED)
    assert queued == {Channel.PUSH: 2, Channel.SMS: 1}


def test_a_channel_whose_delivery_was_stopped_gets_no_other(
    reach: Reach, later: Callable[..., UUID]
) -> None:
    reach(push="phone", sms="+15551234567")
    one = later(channels=["push", "sms"], delivery="all")
    Delivery.objects.filter(channel=Channel.SMS).update(status=Status.CANCELLED, due_at=None)
    _let_time_pass()
    _sweep(500)
    assert _of(one) == [(Channel.PUSH, Status.QUEUED), (Channel.SMS, Status.CANCELLED)]


def test_more_than_a_batch_is_released_in_one_run(reach: Reach, later: Callable[..., UUID]) -> None:
    reach(push="phone")
    for _ in range(7):
        later(channels=["push"])
    _let_time_pass()
    assert _sweep(2) == Swept(moved=7)


def test_an_erased_notification_ends(reach: Reach, later: Callable[..., UUID]) -> None:
    reach(push="phone")
    one = later(channels=["push"])
    Notification.objects.filter(id=one).delete()
    _let_time_pass()
    _sweep(500)
    assert _of(one) == [(Channel.PUSH, Status.SUPPRESSED)]


@pytest.mark.django_db(transaction=True)
@pytest.mark.parametrize("table", ["notification", "delivery"])
def test_one_locked_row_stops_no_other(
    table: str, caller: Caller, reach: Reach, later: Callable[..., UUID]
) -> None:
    assert caller.producer_id
    reach(push="phone", sms="+15551234567")
    locked, *free = [later(channels=["push", "sms"], delivery="all") for _ in range(3)]
    _let_time_pass()
    span = id_ranges.around([locked])
    with psycopg.connect(**_link(), autocommit=False) as frozen:
        frozen.execute(
            sql.SQL("SELECT id FROM {} WHERE id >= %s AND id < %s AND id <= %s FOR UPDATE").format(
                sql.Identifier(table)
            ),
            [max(locked, span["floor"]), span["ceiling"], ids.delivery_id(locked, 1)],
        )
        _sweep(500)
        assert {status for one in free for _, status in _of(one)} == {Status.QUEUED}
        assert {status for _, status in _of(locked)} == {Status.SCHEDULED}
    _sweep(500)
    assert {status for _, status in _of(locked)} == {Status.QUEUED}
    told = Event.objects.filter(notification_id=locked, reason="released").count()
    assert told == 2


def _link() -> dict[str, Any]:
    wanted = ("host", "port", "dbname", "user", "password")
    given = connection.get_connection_params()
    return {name: given[name] for name in wanted if name in given}


def test_a_released_row_stands_where_its_producers_share_puts_it(
    reach: Reach, later: Callable[..., UUID], caller: Caller
) -> None:
    reach(push="phone")
    lane = Lane(Mode.LIVE, Priority.P2, Channel.PUSH)
    behind = clock.now() - _HOUR
    fair_queue.note_taken(lane, last=behind)
    one = later(channels=["push"])
    _let_time_pass()
    _sweep(500)
    due_at = Delivery.objects.get(id=ids.delivery_id(one, 1)).due_at
    assert due_at is not None
    assert abs(due_at - behind) < dt.timedelta(minutes=1)
    assert caller.producer_id


def test_rows_that_come_back_do_not_wait_for_all_that_is_accepted_meanwhile(
    reach: Reach, take: Accept
) -> None:
    reach(email="maria@sandbox.example")
    [held], [dead] = (deliveries_of(take()) for _ in range(2))
    Delivery.objects.filter(id=held.id).update(
        status=Status.SCHEDULED, reason="quiet_hours", due_at=clock.now() - _HOUR
    )
    Delivery.objects.filter(id=dead.id).update(
        status=Status.SENDING, due_at=clock.now() - _HOUR, claims=1
    )
    behind = clock.now() - 2 * _HOUR
    lane = Lane(Mode.LIVE, Priority.P2, Channel.EMAIL)
    state.client().flushdb()
    fair_queue.note_taken(lane, last=behind)
    _sweep(500)
    SWEEPS["rescue"].run_once(now=clock.now(), limit=500)
    for row in Delivery.objects.filter(id__in=[held.id, dead.id]):
        assert row.status == Status.QUEUED
        assert row.due_at is not None
        assert abs(row.due_at - behind) < dt.timedelta(minutes=1)
