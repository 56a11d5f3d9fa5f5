"""No status is written but by a legal move, and each move leaves its event."""

from __future__ import annotations

import datetime as dt
from uuid import UUID, uuid4

import psycopg
import pytest
from django.db import connection

from notifications.core import clock
from notifications.core.models import DeadLetter, Delivery, Event
from notifications.core.rules import ids, suspects
from notifications.core.rules.lane import Priority
from notifications.core.rules.states import Status
from notifications.core.rules.transitions import (
    ACCEPT,
    DELIVER,
    EXPIRE,
    HOLD_REFUNDED,
    REJECT,
    RESCUE,
    TRANSITIONS,
    WITH_DEAD_LETTER,
    Transition,
)
from notifications.core.store.postgres import (
    attempts,
    claims,
    id_ranges,
    partitions,
    transitions,
)
from notifications.core.store.postgres.attempts import AttemptRow
from notifications.core.store.postgres.transitions import (
    ANYONE,
    STILL_DUE,
    FromProvider,
    Move,
    UnderClaim,
)
from tests.moments import transaction_now
from tests.store.stored_rows import MakeDelivery

_DAY = dt.timedelta(days=1)
_MINUTE = dt.timedelta(minutes=1)


@pytest.mark.parametrize("transition", TRANSITIONS, ids=lambda each: each.name)
def test_a_transition_moves_a_row_if_and_only_if_the_table_says_so(
    make_delivery: MakeDelivery, transition: Transition
) -> None:
    rows = {
        make_delivery(source, attempts=attempts): (source, attempts)
        for source in Status
        for attempts in (0, 1)
    }
    legal = {
        delivery_id
        for delivery_id, (source, attempts) in rows.items()
        if source in transition.sources or (attempts > 0 and source in transition.if_called)
    }
    moves = [Move(id=delivery_id, reason="test") for delivery_id in rows]
    assert set(transitions.apply(transition, moves, ANYONE)) == legal
    assert dict(Delivery.objects.values_list("id", "status")) == {
        delivery_id: transition.to if delivery_id in legal else source
        for delivery_id, (source, _) in rows.items()
    }
    told = Event.objects.filter(reason="test").values_list("notification_id", "status")
    assert sorted(told) == sorted((ids.notification_of(each), transition.to) for each in legal)


def test_rows_of_distant_days_are_moved_by_a_statement_for_each_stretch_of_days(
    make_delivery: MakeDelivery,
) -> None:
    today, others = clock.now().date(), []
    for days in (40, 39, 20):
        partitions.ensure(today - days * _DAY, days=0)
        moved = ids.floor_of(today - days * _DAY).int + 1
        Delivery.objects.filter(id=make_delivery()).update(id=UUID(int=moved))
        others.append(Move(id=UUID(int=moved)))
    batch = [*others, Move(id=make_delivery())]
    assert id_ranges.stretches(batch) == [slice(0, 2), slice(2, 3), slice(3, 4)]
    assert transitions.apply(EXPIRE, batch, ANYONE) == [each.id for each in batch]
    assert transitions.apply(EXPIRE, batch, ANYONE) == []


def test_a_claim_takes_a_row_once(make_delivery: MakeDelivery) -> None:
    delivery_id = make_delivery()
    first = claims.claim([delivery_id], now=clock.now())
    second = claims.claim([delivery_id], now=clock.now())
    assert [each.id for each in first.deliveries] == [delivery_id]
    assert second.deliveries == []


def test_nothing_is_done_under_another_claims_token(make_delivery: MakeDelivery) -> None:
    delivery_id = make_delivery()
    claim = claims.claim([delivery_id], now=clock.now())
    assert claims.renew([delivery_id], token=uuid4(), provider="sandbox") == [None]
    assert transitions.apply(ACCEPT, [Move(id=delivery_id)], UnderClaim(uuid4())) == []
    assert claims.renew([delivery_id], token=claim.token, provider="sandbox") == [1]
    ours = UnderClaim(claim.token)
    assert transitions.apply(ACCEPT, [Move(id=delivery_id)], ours) == [delivery_id]


@pytest.mark.parametrize(
    ("priority", "seconds"), [(Priority.P0, 6), (Priority.P1, 20), (Priority.P3, 60)]
)
def test_a_lease_is_as_long_as_its_priority_needs(
    make_delivery: MakeDelivery, priority: Priority, seconds: int
) -> None:
    delivery_id = make_delivery(priority=priority)
    claim = claims.claim([delivery_id], now=clock.now())
    due_at = Delivery.objects.get(id=delivery_id).due_at
    assert due_at == claim.at + dt.timedelta(seconds=seconds)


def test_a_waiting_row_is_taken_a_second_early_and_no_earlier(make_delivery: MakeDelivery) -> None:
    soon = make_delivery(Status.RETRYING, due_at=transaction_now() + dt.timedelta(seconds=0.8))
    later = make_delivery(Status.RETRYING, due_at=clock.now() + _MINUTE)
    claim = claims.claim([soon, later], now=clock.now())
    assert [each.id for each in claim.deliveries] == [soon]


def test_suspects_are_taken_with_few_others_then_alone_and_poison_never(
    make_delivery: MakeDelivery,
) -> None:
    healthy = [make_delivery() for _ in range(suspects.SMALL)]
    suspect = make_delivery(claims=suspects.SMALL_AFTER)
    worse = make_delivery(claims=suspects.ALONE_AFTER)
    poison = make_delivery(claims=suspects.POISON_AFTER)
    assert _claimed([*healthy, suspect, worse, poison]) == set(healthy)
    assert _claimed([suspect, worse, poison]) == {suspect}
    assert _claimed([worse]) == {worse}
    assert _claimed([poison]) == set()


def _claimed(delivery_ids: list[UUID]) -> set[UUID]:
    """Without an order: ids of one millisecond are in no order."""
    return {each.id for each in claims.claim(delivery_ids, now=clock.now()).deliveries}


def test_only_what_is_still_due_is_swept(make_delivery: MakeDelivery) -> None:
    renewed = make_delivery(Status.SENDING, due_at=clock.now() + _MINUTE)
    lapsed = make_delivery(Status.SENDING, due_at=clock.now() - _MINUTE)
    both = [Move(id=renewed), Move(id=lapsed)]
    assert transitions.apply(RESCUE, both, STILL_DUE) == [lapsed]


def test_a_receipt_moves_only_what_its_provider_had(make_delivery: MakeDelivery) -> None:
    delivery_id = make_delivery(Status.SENT, provider="sandbox")
    receipt = [Move(id=delivery_id)]
    assert transitions.apply(DELIVER, receipt, FromProvider("twilio")) == []
    assert transitions.apply(DELIVER, receipt, FromProvider("sandbox")) == [delivery_id]


def test_dying_twice_in_one_life_leaves_one_letter(make_delivery: MakeDelivery) -> None:
    delivery_id = make_delivery(Status.SENDING)
    end = [Move(id=delivery_id, reason="permanent", detail="no such user")]
    assert transitions.apply(REJECT, end, ANYONE) == [delivery_id]
    assert transitions.apply(REJECT, end, ANYONE) == []
    letter = DeadLetter.objects.get(delivery_id=delivery_id)
    assert (letter.reason, letter.detail) == ("permanent", "no such user")
    assert letter.snapshot["user_id"] == "maria"
    assert letter.contact_id == Delivery.objects.get(id=delivery_id).contact_id


_ARRIVED = {Status.SENT, Status.DELIVERED, Status.READ}
_AFTER_DEATH = [
    (each, source)
    for each in TRANSITIONS
    for source in sorted(WITH_DEAD_LETTER & (each.sources | each.if_called))
    if each.to in _ARRIVED
]


@pytest.mark.parametrize(
    ("transition", "source"), _AFTER_DEATH, ids=lambda each: getattr(each, "name", str(each))
)
def test_a_message_that_leaves_or_arrives_after_all_closes_its_dead_letter(
    make_delivery: MakeDelivery, transition: Transition, source: Status
) -> None:
    row, other = (make_delivery(Status.SENDING, attempts=1) for _ in range(2))
    transitions.apply(REJECT, [Move(id=row), Move(id=other)], ANYONE)
    Delivery.objects.filter(id=row).update(status=source)
    assert transitions.apply(transition, [Move(id=row)], ANYONE) == [row]
    letter = DeadLetter.objects.get(delivery_id=row)
    assert letter.resolved_at is not None
    assert letter.resolution == transition.closes_letter != ""
    assert DeadLetter.objects.get(delivery_id=other).resolved_at is None


@pytest.mark.django_db(transaction=True)
def test_a_receipt_does_not_wait_for_a_replay_that_holds_the_dead_letter(
    make_delivery: MakeDelivery,
) -> None:
    row = make_delivery(Status.SENDING, attempts=1)
    transitions.apply(REJECT, [Move(id=row)], ANYONE)
    with psycopg.connect(**connection.get_connection_params(), autocommit=False) as session:
        session.execute("SELECT FROM notifications_deadletter FOR UPDATE")
        assert transitions.apply(DELIVER, [Move(id=row)], ANYONE) == [row]
    assert DeadLetter.objects.get().resolved_at is None


def test_a_late_acceptance_settles_what_waits_and_what_is_being_sent_again(
    make_delivery: MakeDelivery,
) -> None:
    waits, claimed = make_delivery(Status.QUEUED), make_delivery(Status.SENDING)
    called = make_delivery(Status.SENDING, call_started_at=clock.now())
    ids = [waits, claimed, called]
    settled = transitions.accept_late(
        [Move(id=each) for each in ids], calls=dict.fromkeys(ids, 1), since=clock.now()
    )
    assert set(settled) == set(ids)


def test_a_receipt_of_a_provider_that_an_earlier_attempt_called_counts(
    make_delivery: MakeDelivery,
) -> None:
    delivery_id = make_delivery(Status.SCHEDULED, provider="spare", attempts=2)
    attempts.record(
        [AttemptRow(delivery_id, 1, outcome="unanswered", code="", detail="", latency_ms=1)],
        provider="twilio",
    )
    moved = transitions.apply(DELIVER, [Move(id=delivery_id)], FromProvider("twilio"))
    assert moved == [delivery_id]


@pytest.mark.django_db(transaction=True)
def test_a_sweep_passes_over_a_locked_row(make_delivery: MakeDelivery) -> None:
    past = clock.now() - _MINUTE
    locked, free = (make_delivery(Status.SENDING, due_at=past) for _ in range(2))
    with psycopg.connect(**connection.get_connection_params(), autocommit=False) as session:
        session.execute("SELECT FROM delivery WHERE id = %s FOR UPDATE", [locked])
        moves = [Move(id=locked), Move(id=free)]
        assert transitions.apply(RESCUE, moves, STILL_DUE) == [free]
    assert transitions.apply(RESCUE, [Move(id=locked)], STILL_DUE) == [locked]


def test_a_refunded_call_does_not_count(make_delivery: MakeDelivery) -> None:
    delivery_id = make_delivery(Status.SENDING, attempts=1)
    hold = [Move(id=delivery_id, due_in=_MINUTE)]
    transitions.apply(HOLD_REFUNDED, hold, ANYONE)
    row = Delivery.objects.get(id=delivery_id)
    assert row.attempts - row.attempts_before == 0


def test_a_final_row_has_no_due_at(make_delivery: MakeDelivery) -> None:
    delivery_id = make_delivery(Status.SENDING)
    transitions.apply(ACCEPT, [Move(id=delivery_id)], ANYONE)
    assert Delivery.objects.get(id=delivery_id).due_at is None
