"""An error that a task raises is one of the code or of a row, and no row is lost by it."""

from __future__ import annotations

import datetime as dt
from collections.abc import Callable, Iterator
from contextlib import suppress
from typing import Any
from uuid import UUID

import pytest
from django.db import ProgrammingError, transaction

from notifications.core import broker, clock
from notifications.core.delivery import deliver, lane_pauses, unclaimed
from notifications.core.delivery.batch import Batch
from notifications.core.models import Alert, DeadLetter, Delivery, Notification
from notifications.core.rules.alerts import AlertKind
from notifications.core.rules.lane import Lane, Mode, Priority
from notifications.core.rules.states import Status
from notifications.core.rules.suspects import POISON_AFTER, SEVERAL
from notifications.core.store.postgres import db
from providers.contract import Channel
from tests.journey import (
    CHAIN,
    Accept,
    Reach,
    chain_of,
    chain_statuses,
    deliveries_of,
    status_and_reason,
    statuses,
    take_rows,
)
from tests.moments import transaction_now

Outbox = Callable[[UUID], list[Any]]
LANE = Lane(Mode.LIVE, Priority.P1, Channel.EMAIL).name
_HOUR = dt.timedelta(hours=1)


class FailingStep:
    """The first step of the tests: raises an error for the rows in `ids`, or for all rows."""

    def __init__(self) -> None:
        self.ids: set[UUID] = set()
        self.hits_all = False
        self.is_of_code = False

    def __call__(self, batch: Batch) -> None:
        if not self.hits_all and self.ids.isdisjoint(each.delivery.id for each in batch.deliveries):
            return
        if self.is_of_code:
            with transaction.atomic(), db.errors, db.cursor() as running:
                running.execute("SELECT a_column_of_the_next_release FROM delivery")
        raise RuntimeError("this row, or this release")


@pytest.fixture
def fault(outbox: Outbox, reach: Reach, monkeypatch: pytest.MonkeyPatch) -> Iterator[FailingStep]:
    del outbox  # its settings come first
    reach(email="maria@sandbox.example")
    monkeypatch.setattr(broker, "takes_messages", lambda: False)
    made = FailingStep()
    monkeypatch.setattr(deliver, "STEPS", (made, *deliver.STEPS))
    lane_pauses.forget()
    yield made
    lane_pauses.forget()


def _try(delivery_ids: list[UUID]) -> None:
    """Deliver rows as their task does, and let a second pass for a paused lane."""
    lane_pauses._probed_at.clear()
    with suppress(RuntimeError, ProgrammingError):
        deliver.deliver(delivery_ids, lane=LANE)


def _is_paused() -> bool:
    return Alert.objects.filter(kind=AlertKind.LANE_PAUSED, subject=LANE, resolved_at=None).exists()


def test_the_fifth_error_of_a_row_ends_it_while_its_neighbours_pass(
    fault: FailingStep, take: Accept
) -> None:
    [bad] = take_rows(take, 1, priority="P1")
    fault.ids = {bad}
    for _ in range(POISON_AFTER):
        assert status_and_reason(bad)[0] is Status.QUEUED
        _try([bad])
        [good] = take_rows(take, 1, priority="P1")
        _try([good])
        assert statuses([good]) == [Status.SENT]
    assert status_and_reason(bad) == (Status.FAILED, "poison")
    [letter] = DeadLetter.objects.all()
    assert (letter.delivery_id, letter.reason) == (bad, "poison")
    assert not _is_paused()


def test_a_suspect_waits_longer_after_each_error(fault: FailingStep, take: Accept) -> None:
    [bad] = take_rows(take, 1, priority="P1")
    fault.ids = {bad}
    for seconds in (5, 10, 20, 40):
        before = transaction_now()
        _try([bad])
        due_at = Delivery.objects.get(id=bad).due_at
        assert due_at is not None
        wait = due_at - before
        assert dt.timedelta(seconds=seconds - 1) < wait < dt.timedelta(seconds=seconds + 5)
        lane_pauses.forget()


def test_a_fatal_row_of_a_chain_opens_the_next_channel(
    fault: FailingStep, reach: Reach, take: Accept
) -> None:
    reach(user_id="ana", push="token-well", sms="+15552020300")
    answer = take(**CHAIN | {"user_id": "ana"})
    [push] = chain_of(answer)
    fault.ids = {push.id}
    for _ in range(POISON_AFTER):
        _try([push.id])
    assert chain_statuses(answer) == [
        ("push", "failed", "escalated"),
        ("sms", "queued", "fallback"),
    ]
    assert not DeadLetter.objects.exists()


def test_the_rows_of_a_failed_message_go_alone_and_spend_no_claim(
    fault: FailingStep, take: Accept
) -> None:
    rows = take_rows(take, 4, priority="P1")
    fault.ids = {rows[0]}
    for _ in range(POISON_AFTER + 1):
        _try(rows)
    found = Delivery.objects.filter(id__in=rows)
    assert {(row.status, row.reason, row.claims) for row in found} == {
        (Status.QUEUED, "task_failed", 0)
    }
    for row in rows:
        _try([row])
    assert statuses(rows) == [Status.QUEUED, *[Status.SENT] * 3]
    assert not _is_paused()


def test_several_rows_that_fail_alone_pause_their_lane_and_none_is_poison(
    fault: FailingStep, take: Accept
) -> None:
    rows = take_rows(take, SEVERAL, priority="P1")
    fault.hits_all = True
    for _ in range(POISON_AFTER + 1):
        for row in rows:
            _try([row])
    assert _is_paused()
    assert statuses(rows) == [Status.QUEUED] * SEVERAL
    claims = Delivery.objects.filter(id__in=rows).values_list("claims", flat=True)
    assert max(claims) <= 1
    fault.hits_all = False
    for row in rows:
        _try([row])
    assert statuses(rows) == [Status.SENT] * SEVERAL
    assert not _is_paused()


def test_an_error_of_the_code_pauses_the_lane_at_once(fault: FailingStep, take: Accept) -> None:
    [row] = take_rows(take, 1, priority="P1")
    fault.hits_all = fault.is_of_code = True
    for _ in range(POISON_AFTER + 1):
        _try([row])
        assert _is_paused()
    assert Delivery.objects.get(id=row).claims == 0
    assert status_and_reason(row) == (Status.QUEUED, "task_failed")
    [alert] = Alert.objects.filter(kind=AlertKind.LANE_PAUSED)
    assert "a_column_of_the_next_release" in alert.detail
    fault.hits_all = False
    _try([row])
    assert statuses([row]) == [Status.SENT]
    assert not _is_paused()


def test_a_paused_lane_claims_one_row_and_leaves_the_others_due(
    fault: FailingStep, take: Accept
) -> None:
    rows = take_rows(take, 4, priority="P1")
    fault.hits_all = fault.is_of_code = True
    _try(rows[:1])
    with pytest.raises(ProgrammingError):
        deliver.deliver(rows[1:3], lane=LANE)
    assert deliver.deliver(rows[3:], lane=LANE) == []
    found = {row.id: row for row in Delivery.objects.filter(id__in=rows)}
    assert [found[each].reason for each in rows] == ["task_failed", "task_failed", "", ""]
    for each in rows[2:]:
        due_at = found[each].due_at
        assert due_at is not None
        assert due_at <= clock.now()


def test_an_expired_row_ends_without_a_claim_and_its_secrets_are_wiped(
    fault: FailingStep, take: Accept
) -> None:
    del fault
    over, going = (deliveries_of(take(priority="P1"))[0] for _ in range(2))
    Notification.objects.filter(id=over.notification_id).update(expires_at=clock.now() - _HOUR)
    both = {over.id, going.id}
    assert unclaimed.find_expired(both) == {over.id}
    assert unclaimed.expire(unclaimed.find_expired(both)) == 1
    assert status_and_reason(over.id) == (Status.EXPIRED, "ttl_passed")
    assert status_and_reason(going.id)[0] is Status.QUEUED
    assert Notification.objects.get(id=over.notification_id).secrets is None
    assert Notification.objects.get(id=going.notification_id).secrets is not None
