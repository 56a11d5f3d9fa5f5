"""No status is written but by a legal move, and each move leaves its event."""

from __future__ import annotations

import datetime as dt
import itertools
from uuid import UUID, uuid4

import pytest

from notifications import clock
from notifications.models import DeadLetter, Delivery, Event
from notifications.rules import ids, suspects
from notifications.rules.lane import Priority
from notifications.rules.states import SOURCES, Status
from notifications.store import moves
from notifications.store.moves import Move
from tests.store.conftest import MakeDelivery

_MINUTE = dt.timedelta(minutes=1)


@pytest.mark.parametrize(
    ("source", "target"),
    list(itertools.product(Status, Status)),
    ids=lambda status: status.label,
)
def test_a_move_happens_if_and_only_if_the_table_has_it(
    make_delivery: MakeDelivery, source: Status, target: Status
) -> None:
    delivery_id = make_delivery(source)
    moved = moves.move(target, [Move(id=delivery_id, reason="test")])
    legal = source in SOURCES[target]
    assert moved == ([delivery_id] if legal else [])
    assert Delivery.objects.get(id=delivery_id).status == (target if legal else source)
    told = Event.objects.filter(notification_id=ids.notification_of(delivery_id), reason="test")
    assert [event.status for event in told] == ([target] if legal else [])


def test_a_claim_takes_a_row_once(make_delivery: MakeDelivery) -> None:
    delivery_id = make_delivery()
    first = moves.claim([delivery_id], now=clock.now())
    second = moves.claim([delivery_id], now=clock.now())
    assert [each.id for each in first.deliveries] == [delivery_id]
    assert second.deliveries == []


def test_nothing_is_done_under_another_claims_token(make_delivery: MakeDelivery) -> None:
    delivery_id = make_delivery()
    claim = moves.claim([delivery_id], now=clock.now())
    assert moves.renew([delivery_id], token=uuid4(), provider="sandbox") == {}
    assert moves.move(Status.SENT, [Move(id=delivery_id)], token=uuid4()) == []
    assert moves.renew([delivery_id], token=claim.token, provider="sandbox") == {delivery_id: 1}
    assert moves.move(Status.SENT, [Move(id=delivery_id)], token=claim.token) == [delivery_id]


@pytest.mark.parametrize(
    ("priority", "seconds"), [(Priority.P0, 6), (Priority.P1, 60), (Priority.P3, 60)]
)
def test_a_lease_is_as_long_as_its_priority_needs(
    make_delivery: MakeDelivery, priority: Priority, seconds: int
) -> None:
    delivery_id = make_delivery(priority=priority)
    claim = moves.claim([delivery_id], now=clock.now())
    due_at = Delivery.objects.get(id=delivery_id).due_at
    assert due_at == claim.at + dt.timedelta(seconds=seconds)


def test_a_waiting_row_is_taken_a_second_early_and_no_earlier(make_delivery: MakeDelivery) -> None:
    soon = make_delivery(Status.RETRYING, due_at=clock.now() + dt.timedelta(seconds=0.8))
    later = make_delivery(Status.RETRYING, due_at=clock.now() + _MINUTE)
    claim = moves.claim([soon, later], now=clock.now())
    assert [each.id for each in claim.deliveries] == [soon]


def test_suspects_are_taken_with_few_others_then_alone_and_poison_never(
    make_delivery: MakeDelivery,
) -> None:
    healthy = [make_delivery() for _ in range(suspects.SMALL)]
    suspect = make_delivery(claims=suspects.SMALL_AFTER)
    worse = make_delivery(claims=suspects.ALONE_AFTER)
    poison = make_delivery(claims=suspects.POISON_AFTER)
    assert _claimed([*healthy, suspect, worse, poison]) == healthy
    assert _claimed([suspect, worse, poison]) == [suspect]
    assert _claimed([worse]) == [worse]
    assert _claimed([poison]) == []


def _claimed(delivery_ids: list[UUID]) -> list[UUID]:
    return [each.id for each in moves.claim(delivery_ids, now=clock.now()).deliveries]


def test_only_what_is_still_due_is_swept(make_delivery: MakeDelivery) -> None:
    renewed = make_delivery(Status.SENDING, due_at=clock.now() + _MINUTE)
    lapsed = make_delivery(Status.SENDING, due_at=clock.now() - _MINUTE)
    both = [Move(id=renewed), Move(id=lapsed)]
    assert moves.move(Status.QUEUED, both, only_due=True) == [lapsed]


def test_a_receipt_moves_only_what_its_provider_had(make_delivery: MakeDelivery) -> None:
    delivery_id = make_delivery(Status.SENT, provider="sandbox")
    receipt = [Move(id=delivery_id)]
    assert moves.move(Status.DELIVERED, receipt, only_provider="twilio") == []
    assert moves.move(Status.DELIVERED, receipt, only_provider="sandbox") == [delivery_id]


def test_dying_twice_in_one_life_leaves_one_letter(make_delivery: MakeDelivery) -> None:
    delivery_id = make_delivery(Status.SENDING)
    end = [Move(id=delivery_id, reason="permanent", detail="no such user")]
    assert moves.move(Status.FAILED, end, buries=True) == [delivery_id]
    assert moves.move(Status.FAILED, end, buries=True) == []
    letter = DeadLetter.objects.get(delivery_id=delivery_id)
    assert (letter.reason, letter.detail) == ("permanent", "no such user")
    assert letter.snapshot["user_id"] == "maria"


def test_a_late_acceptance_settles_what_waits_but_not_what_is_being_sent(
    make_delivery: MakeDelivery,
) -> None:
    waits, sending = make_delivery(Status.QUEUED), make_delivery(Status.SENDING)
    settled = moves.accept_late([Move(id=waits), Move(id=sending)])
    assert settled == [waits]


def test_a_refunded_call_does_not_count(make_delivery: MakeDelivery) -> None:
    delivery_id = make_delivery(Status.SENDING, attempts=1)
    hold = [Move(id=delivery_id, due_in=_MINUTE)]
    moves.move(Status.SCHEDULED, hold, refunds_attempt=True)
    row = Delivery.objects.get(id=delivery_id)
    assert row.attempts - row.attempts_before == 0


def test_a_final_row_has_no_due_at(make_delivery: MakeDelivery) -> None:
    delivery_id = make_delivery(Status.SENDING)
    moves.move(Status.SENT, [Move(id=delivery_id)])
    assert Delivery.objects.get(id=delivery_id).due_at is None
