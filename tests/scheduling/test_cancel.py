"""A producer cancels a notification before its deliveries leave."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from functools import partial
from typing import Any
from uuid import UUID

import psycopg
import pytest
from django.db import connection

from notifications.core import clock
from notifications.core.delivery import deliver, rescue
from notifications.core.feedback import delivery_receipts
from notifications.core.intake.accept import Caller
from notifications.core.models import Attempt, DeadLetter
from notifications.core.rules import ids
from notifications.core.rules.reasons import Reason
from notifications.core.rules.states import Status
from notifications.core.rules.transitions import CANCEL, EXPIRE, GIVE_UP, SUPPRESS, Transition
from notifications.core.scheduling import cancel
from notifications.core.store.postgres import claims, db, id_ranges, transitions
from notifications.core.store.postgres.transitions import ANYONE, Move
from providers.contract import Accepted, Channel, Message, Outcome, Receipt, ReceiptKind
from tests.journey import (
    Accept,
    Reach,
    deliveries_of,
    lapse,
    status_and_reason,
    statuses,
    take_rows,
)
from tests.vendors import Scripted

Outbox = Callable[[UUID], list[Any]]


def test_a_cancelled_notification_stops_what_waits_once(
    reach: Reach, take: Accept, caller: Caller
) -> None:
    reach(email="maria@sandbox.example")
    [row] = deliveries_of(take())
    mine = partial(cancel.cancel, producer_id=caller.producer_id, mode=caller.mode)
    assert mine(row.notification_id) == [row.id]
    assert mine(row.notification_id) == []
    stranger = cancel.cancel(row.notification_id, producer_id=0, mode=caller.mode)
    assert stranger is None


def test_a_delivery_claimed_beside_the_cancellation_keeps_the_status_of_its_call(
    reach: Reach, take: Accept, monkeypatch: pytest.MonkeyPatch
) -> None:
    reach(email="maria@sandbox.example")
    [row] = deliveries_of(take())
    look_up = db.rows

    def claimed_behind_the_look(name: str, parameters: dict[str, object]) -> Sequence[Any]:
        found = look_up(name, parameters)
        if name == "waiting_of":
            claim = claims.claim([row.id], now=clock.now())
            claims.renew([row.id], token=claim.token, provider="sandbox")
        return found

    monkeypatch.setattr(db, "rows", claimed_behind_the_look)
    assert cancel.stop([row.notification_id]) == []
    assert statuses([row.id]) == [Status.SENDING]


@pytest.mark.django_db(transaction=True)
def test_a_locked_delivery_holds_up_no_cancellation_and_stops_at_its_next_claim(
    scripted: Scripted, take: Accept
) -> None:
    rows = take_rows(take, 4)
    with psycopg.connect(**connection.get_connection_params(), autocommit=False) as session:
        session.execute("SELECT FROM delivery WHERE id = %s FOR UPDATE", [rows[1]])
        stopped = cancel.stop([ids.notification_of(each) for each in rows])
    assert set(stopped) == {rows[0], rows[2], rows[3]}
    assert statuses([rows[1]]) == [Status.QUEUED]
    deliver.deliver([rows[1]])
    assert status_and_reason(rows[1]) == (Status.CANCELLED, Reason.CANCELLED)
    assert not Attempt.objects.exists()
    assert scripted.name


@pytest.mark.django_db(transaction=True)
@pytest.mark.parametrize(
    ("end", "reason"),
    [
        (CANCEL, Reason.CANCELLED),
        (EXPIRE, Reason.TTL_PASSED),
        (SUPPRESS, Reason.OPTED_OUT),
        (GIVE_UP, Reason.PERMANENT),
    ],
    ids=lambda each: str(getattr(each, "name", "")),
)
@pytest.mark.parametrize("is_told_by_receipt", [False, True], ids=["answer", "receipt"])
def test_an_ended_delivery_tells_what_its_call_did(
    scripted: Scripted, take: Accept, end: Transition, reason: Reason, *, is_told_by_receipt: bool
) -> None:
    [row] = take_rows(take, 1, priority="P1")

    def outlive_the_lease(batch: Sequence[Message]) -> Iterator[tuple[Message, Outcome]]:
        rescue.rescue([lapse(row)])
        assert statuses([row]) == [Status.QUEUED]
        transitions.apply(end, [Move(id=row, reason=reason)], ANYONE)
        assert statuses([row]) == [end.to]
        if is_told_by_receipt:
            receipt = Receipt(kind=ReceiptKind.DELIVERED, delivery_id=row)
            assert delivery_receipts.record(scripted.name, [receipt]) == 1
        connection.close()  # of the thread of the call
        yield batch[0], Accepted(message_id="m-1")

    scripted.answer = outlive_the_lease
    deliver.deliver([row])
    if is_told_by_receipt:
        assert status_and_reason(row) == (Status.DELIVERED, Reason.RECEIPT_DELIVERED)
    else:
        assert status_and_reason(row) == (Status.SENT, Reason.ACCEPTED_AFTER_LEASE)
        assert not DeadLetter.objects.filter(delivery_id=row, resolved_at=None).exists()
    assert not _is_refunded(row), "the frequency cap counts the message"


@pytest.mark.django_db(transaction=True)
def test_a_failure_by_a_receipt_stays_after_the_late_acceptance_of_its_call(
    scripted: Scripted, take: Accept
) -> None:
    [row] = take_rows(take, 1, priority="P1")

    def fail_at_once(batch: Sequence[Message]) -> Iterator[tuple[Message, Outcome]]:
        receipt = Receipt(
            kind=ReceiptKind.FAILED, delivery_id=row, provider_message_id="m-1", code="30005"
        )
        assert delivery_receipts.record(scripted.name, [receipt]) == 1
        connection.close()
        yield batch[0], Accepted(message_id="m-1")

    scripted.answer = fail_at_once
    deliver.deliver([row])
    assert status_and_reason(row) == (Status.FAILED, Reason.RECEIPT_FAILED)
    assert DeadLetter.objects.filter(delivery_id=row, resolved_at=None).exists()


def _is_refunded(delivery_id: UUID) -> bool:
    """Return True if a refund of the frequency cap would be granted now."""
    notification = ids.notification_of(delivery_id)
    ended = {Status.FAILED, Status.EXPIRED, Status.SUPPRESSED, Status.CANCELLED}
    [(span, _)] = id_ranges.by_day([notification])
    asked = {"ids": [notification], "channels": [Channel.EMAIL], "never_left": sorted(ended)}
    return bool(db.rows("never_left", {**span, **asked}))
