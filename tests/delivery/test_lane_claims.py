"""A message of a P2 or P3 lane claims the rows that are due, in the order of the fair queue."""

from __future__ import annotations

import datetime as dt
from concurrent.futures import ThreadPoolExecutor
from typing import Final
from uuid import UUID

import pytest
from django.db import connection

from notifications.core import clock
from notifications.core.delivery import deliver, lane_claims, unclaimed
from notifications.core.models import DeadLetter, Delivery, Notification
from notifications.core.rules import suspects
from notifications.core.rules.lane import Lane, Mode, Priority
from notifications.core.rules.reasons import Reason
from notifications.core.rules.states import Status
from notifications.core.store.postgres import fair_queue, id_ranges
from notifications.core.store.postgres.fair_queue import Ask
from notifications.core.store.redis import state
from providers.contract import Channel
from tests import past_rows
from tests.store.stored_rows import MakeDelivery, make_delivery

__all__ = ["make_delivery"]  # a fixture of the store's tests

_LANE: Final = Lane(Mode.LIVE, Priority.P2, Channel.EMAIL)
_MINUTE: Final = dt.timedelta(minutes=1)


@pytest.fixture(autouse=True)
def _no_places() -> None:
    """Forget the places and breakers of other tests."""
    state.client().flushdb()


def _claim(rows: int, *, lane: Lane = _LANE) -> list[UUID]:
    """Claim by a message for so many rows; returns the ids in the order of their places."""
    [span, *_] = id_ranges.current()
    taken = lane_claims.claim(lane, span, rows=rows, now=clock.now())
    return [each.id for each in taken.claim.deliveries]


def _make(make: MakeDelivery, *, ago: dt.timedelta = _MINUTE, **columns: object) -> UUID:
    made = make(Status.QUEUED)
    Delivery.objects.filter(id=made).update(due_at=clock.now() - ago, **columns)
    return made


def test_the_longest_due_rows_of_the_lane_are_claimed_once(make_delivery: MakeDelivery) -> None:
    rows = [_make(make_delivery, ago=_MINUTE * (9 - number)) for number in range(5)]
    _make(make_delivery, ago=-_MINUTE)
    _make(make_delivery, priority=Priority.P3)
    _make(make_delivery, mode=Mode.TEST)
    _make(make_delivery, status=Status.CANCELLED)
    assert set(_claim(3)) == set(rows[:3])
    assert set(_claim(3)) == set(rows[3:])
    assert _claim(3) == []


def test_a_producers_backlog_does_not_delay_anothers_row(make_delivery: MakeDelivery) -> None:
    hour_ago = clock.now() - dt.timedelta(hours=1)
    for place in fair_queue.places([Ask(_LANE, 1)] * 12, now=hour_ago):
        Delivery.objects.filter(id=make_delivery(Status.QUEUED)).update(due_at=place)
    assert len(_claim(4)) == 4
    # Accepted now, an hour after the others, of which eight still wait.
    [place] = fair_queue.places([Ask(_LANE, 2)], now=clock.now())
    small = make_delivery(Status.QUEUED)
    Delivery.objects.filter(id=small).update(due_at=place)
    assert small in _claim(4)


def test_an_idle_lane_forgets_the_place_of_its_last_backlog(make_delivery: MakeDelivery) -> None:
    _make(make_delivery, ago=dt.timedelta(hours=1))
    assert len(_claim(1)) == 1
    assert _claim(1) == []
    now = clock.now()
    [place] = fair_queue.places([Ask(_LANE, 2)], now=now)
    assert place >= now


@pytest.mark.django_db
def test_the_rows_of_an_older_day_are_claimed_and_set_no_place() -> None:
    past_rows.fill((clock.now() - dt.timedelta(days=3)).date(), notifications=2, people=1)
    Delivery.objects.update(status=Status.QUEUED, due_at=clock.now() - dt.timedelta(hours=1))
    rows = list(Delivery.objects.values_list("id", flat=True))
    [(span, _)] = id_ranges.by_day(rows)
    taken = lane_claims.claim(_LANE, span, rows=1, now=clock.now())
    assert len(taken.claim.deliveries) == 1
    now = clock.now()
    [place] = fair_queue.places([Ask(_LANE, 2)], now=now)
    assert place >= now


def test_suspects_are_claimed_with_few_others_and_then_alone(make_delivery: MakeDelivery) -> None:
    healthy = {_make(make_delivery, ago=3 * _MINUTE) for _ in range(3)}
    some = {
        _make(make_delivery, ago=2 * _MINUTE, claims=suspects.SMALL_AFTER)
        for _ in range(suspects.SMALL)
    }
    worse = [_make(make_delivery, claims=suspects.ALONE_AFTER) for _ in range(2)]
    failed = _make(make_delivery, ago=_MINUTE / 2, reason=Reason.TASK_FAILED)
    last = _make(make_delivery, ago=_MINUTE / 4)
    claims = [_claim(500) for _ in range(6)]
    assert [len(each) for each in claims] == [suspects.SMALL, 3, 1, 1, 1, 1]
    assert healthy < set(claims[0]) < healthy | some
    assert {*claims[2], *claims[3]} == set(worse)
    assert claims[4:] == [[failed], [last]]


def test_one_message_delivers_suspects_one_after_another(make_delivery: MakeDelivery) -> None:
    rows = [_make(make_delivery, claims=suspects.ALONE_AFTER) for _ in range(3)]
    rows += [_make(make_delivery, ago=_MINUTE / 2) for _ in range(2)]
    left = _make(make_delivery, ago=_MINUTE / 4)
    [span, *_] = id_ranges.current()
    deliver.deliver_due(_LANE, span, rows=5)
    assert not Delivery.objects.filter(id__in=rows, status=Status.QUEUED).exists()
    assert Delivery.objects.get(id=left).status == Status.QUEUED


def test_what_no_claim_takes_ends(make_delivery: MakeDelivery) -> None:
    poison = _make(make_delivery, claims=suspects.POISON_AFTER)
    over = _make(make_delivery, reason=Reason.TASK_FAILED)
    Notification.objects.filter(id=Delivery.objects.get(id=over).notification_id).update(
        expires_at=clock.now() - _MINUTE
    )
    healthy = _make(make_delivery)
    [span, *_] = id_ranges.current()
    deliver.deliver_due(_LANE, span, rows=500)
    assert Delivery.objects.get(id=healthy).status not in {Status.QUEUED, Status.SENDING}
    assert DeadLetter.objects.get().delivery_id == poison
    assert Delivery.objects.get(id=over).status == Status.EXPIRED


def test_a_row_that_does_not_end_holds_up_no_other_row(
    make_delivery: MakeDelivery, monkeypatch: pytest.MonkeyPatch
) -> None:
    poison = _make(make_delivery, claims=suspects.POISON_AFTER)
    healthy = _make(make_delivery, ago=_MINUTE / 2)

    def fail(*_arguments: object, **_others: object) -> int:
        raise ValueError

    monkeypatch.setattr(unclaimed, "give_up", fail)
    [span, *_] = id_ranges.current()
    deliver.deliver_due(_LANE, span, rows=500)
    assert Delivery.objects.get(id=healthy).status not in {Status.QUEUED, Status.SENDING}
    assert Delivery.objects.get(id=poison).status == Status.QUEUED


def test_the_place_of_the_lane_is_that_of_the_last_claimed_row(make_delivery: MakeDelivery) -> None:
    hour_ago = clock.now() - dt.timedelta(hours=1)
    places = fair_queue.places([Ask(_LANE, 1)] * 9, now=hour_ago)
    for number, place in enumerate(places):
        Delivery.objects.filter(id=make_delivery(Status.QUEUED)).update(
            due_at=place, claims=0 if number else suspects.ALONE_AFTER
        )
    assert len(_claim(500)) == 1
    [place] = fair_queue.places([Ask(_LANE, 3)], now=clock.now())
    assert place <= places[1]


@pytest.mark.django_db(transaction=True)
def test_workers_that_claim_at_the_same_time_share_the_rows(make_delivery: MakeDelivery) -> None:
    rows = {_make(make_delivery) for _ in range(60)}

    def claim(_number: int) -> list[UUID]:
        try:
            return _claim(10)
        finally:
            connection.close()

    with ThreadPoolExecutor(6) as pool:
        taken = [each for claimed in pool.map(claim, range(6)) for each in claimed]
    while claimed := _claim(10):
        taken += claimed
    assert len(taken) == len(rows)
    assert set(taken) == rows
