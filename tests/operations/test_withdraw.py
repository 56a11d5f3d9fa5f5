"""A withdrawal reaches the device that got the push, survives a kill, and ends with an event."""

from __future__ import annotations

import datetime as dt
from collections.abc import Callable
from typing import Any
from uuid import UUID

import pytest
from django.contrib.postgres.functions import TransactionNow

from notifications.core import clock
from notifications.core.delivery import deliver
from notifications.core.intake.accept import Caller
from notifications.core.models import (
    Attempt,
    AuditEntry,
    Contact,
    Delivery,
    Event,
    Notification,
    Withdrawal,
)
from notifications.core.operations import switches as switch_operations
from notifications.core.operations import withdraw, withdrawal_calls
from notifications.core.operations.switches import SwitchTarget
from notifications.core.rules import ids
from notifications.core.rules.rate_limits.circuit_breaker import CallStats, HealthKey
from notifications.core.rules.states import Status
from notifications.core.rules.switches import SwitchKind
from notifications.core.rules.withdrawals import WithdrawalState
from notifications.core.store.cached import switches as cached
from notifications.core.store.postgres import change_feed, withdrawals
from notifications.core.store.rate_limits import breaker_status, circuit_breakers
from notifications.core.sweeps import withdrawals as sweep
from providers.contract import Channel, Pace
from tests.journey import Accept, AddVendor, Reach, deliveries_of

pytestmark = pytest.mark.django_db(transaction=True)
Outbox = Callable[[UUID], list[Any]]
HOUR = dt.timedelta(hours=1)


@pytest.fixture(autouse=True)
def _fresh(outbox: Outbox) -> None:
    del outbox  # the sandbox takes all channels
    cached.forget()


@pytest.fixture
def sent(reach: Reach, take: Accept) -> Callable[..., Delivery]:
    """Return a function that sends a push; the recipient is created at the first call."""

    def make(address: str = "device-1", **fields: object) -> Delivery:
        if not Contact.objects.exists():
            reach(push=address, sms="+15552000001")
        [row] = deliveries_of(take(**{"channels": ["push"], **fields}))
        deliver.deliver([row.id])
        row.refresh_from_db()
        return row

    return make


def _withdraw(row: Delivery) -> list[WithdrawalState]:
    return [each.state for each in withdraw.withdraw(row.notification_id, by="maria")]


def _run() -> None:
    sweep.run_once(now=clock.now(), limit=500)


def _due() -> None:
    Withdrawal.objects.update(due_at=TransactionNow() - dt.timedelta(seconds=1))


def _reasons(row: Delivery) -> list[str]:
    events = Event.objects.filter(notification_id=row.notification_id, reason__contains="with")
    return list(events.order_by("seq").values_list("reason", flat=True))


def _effects(outbox: Outbox, row: Delivery) -> list[str]:
    return [call["effect"] for message in outbox(row.id) for call in message["calls"]]


def test_a_sent_push_is_removed_and_keeps_its_status(
    sent: Callable[..., Delivery], outbox: Outbox
) -> None:
    row = sent()
    assert row.status == Status.SENT
    assert _withdraw(row) == [WithdrawalState.WITHDRAWING]
    assert _withdraw(row) == [WithdrawalState.WITHDRAWING]  # while the first one waits
    assert Withdrawal.objects.count() == 1
    _run()
    assert _effects(outbox, row) == ["shown", "withdrawn"]
    assert not Withdrawal.objects.exists()
    assert _reasons(row) == ["withdrawing", "withdrawn"]
    assert _withdraw(row) == [WithdrawalState.WITHDRAWN]
    assert not Withdrawal.objects.exists()
    row.refresh_from_db()
    assert row.status == Status.SENT
    entry = AuditEntry.objects.get(operation="withdraw_notification")
    assert (entry.by, entry.after) == ("maria", {str(row.id): "withdrawing"})


def test_the_change_feed_has_no_withdrawal(sent: Callable[..., Delivery], caller: Caller) -> None:
    row = sent()
    _withdraw(row)
    _run()
    changes, _ = change_feed.page(None, producer_id=caller.producer_id, mode=caller.mode, limit=50)
    assert changes
    assert all("with" not in each.reason for each in changes)


def test_what_waits_is_cancelled_and_an_sms_cannot_be_withdrawn(reach: Reach, take: Accept) -> None:
    reach(push="device-1", sms="+15552000001")
    text, push = deliveries_of(take(channels=["sms", "push"], delivery="all"))
    deliver.deliver([text.id])
    found = withdraw.withdraw(text.notification_id, by="maria")
    assert {each.delivery.id: each.state for each in found} == {
        text.id: WithdrawalState.UNSUPPORTED,
        push.id: WithdrawalState.NOT_SENT,
    }
    push.refresh_from_db()
    assert push.status == Status.CANCELLED
    assert not Withdrawal.objects.exists()


def test_a_kill_after_the_claim_loses_nothing(
    sent: Callable[..., Delivery], outbox: Outbox
) -> None:
    row = sent()
    _withdraw(row)
    assert withdrawals.claim(now=clock.now(), limit=10)  # killed here
    _run()
    assert _effects(outbox, row) == ["shown"]
    _due()
    _run()
    assert _effects(outbox, row) == ["shown", "withdrawn"]


def test_a_kill_after_the_call_repeats_the_call_and_leaves_one_event(
    sent: Callable[..., Delivery], outbox: Outbox, monkeypatch: pytest.MonkeyPatch
) -> None:
    row = sent()
    _withdraw(row)
    with monkeypatch.context() as patch:
        patch.setattr(withdrawals, "end", lambda _: 0)  # killed here
        _run()
    _due()
    _run()
    assert _effects(outbox, row) == ["shown", "withdrawn", "duplicate"]
    assert _reasons(row) == ["withdrawing", "withdrawn"]


def test_two_sweeps_that_end_the_same_withdrawal_leave_one_event(
    sent: Callable[..., Delivery],
) -> None:
    row = sent()
    _withdraw(row)
    claimed = withdrawals.claim(now=clock.now(), limit=10)
    withdrawal_calls.process(claimed)
    withdrawal_calls.process(claimed)
    assert _reasons(row) == ["withdrawing", "withdrawn"]


def test_a_delivery_in_the_hands_of_a_worker_is_removed_after_its_call(
    sent: Callable[..., Delivery], outbox: Outbox
) -> None:
    row = sent()
    Delivery.objects.filter(pk=row.pk).update(status=Status.SENDING)
    Notification.objects.filter(pk=row.notification_id).update(cancelled_at=None)
    kept = list(Attempt.objects.filter(delivery_id=row.pk))
    Attempt.objects.filter(delivery_id=row.pk).delete()
    assert _withdraw(row) == [WithdrawalState.WITHDRAWING]
    _run()
    assert _effects(outbox, row) == ["shown"]
    Attempt.objects.bulk_create(kept)
    Delivery.objects.filter(pk=row.pk).update(status=Status.SENT)
    _due()
    _run()
    assert _effects(outbox, row) == ["shown", "withdrawn"]


def test_a_provider_that_is_down_is_called_again_until_the_end(
    sent: Callable[..., Delivery], outbox: Outbox
) -> None:
    row = sent("device-2")
    Contact.objects.filter(channel=Channel.PUSH).update(address="device+503x3")
    _withdraw(row)
    _run()
    left = Withdrawal.objects.get()
    assert (left.failures, _effects(outbox, row)) == (1, ["shown", "refused"])
    assert left.due_at > clock.now()
    _due()
    _run()
    _due()
    _run()
    assert _effects(outbox, row) == ["shown", "refused", "refused", "withdrawn"]


def test_the_tries_end_and_a_new_request_starts_again(
    sent: Callable[..., Delivery], outbox: Outbox
) -> None:
    row = sent()
    Contact.objects.filter(channel=Channel.PUSH).update(address="device+503")
    _withdraw(row)
    Withdrawal.objects.update(ends_at=clock.now())
    _run()
    assert _reasons(row) == ["withdrawing", "not_withdrawn"]
    event = Event.objects.get(notification_id=row.notification_id, reason="not_withdrawn")
    assert event.detail.startswith("the time is over: unavailable")
    Contact.objects.filter(channel=Channel.PUSH).update(address="device-1")
    assert _withdraw(row) == [WithdrawalState.WITHDRAWING]
    _run()
    assert _effects(outbox, row)[-1] == "withdrawn"


def test_a_dead_token_ends_the_withdrawal(sent: Callable[..., Delivery]) -> None:
    row = sent()
    Contact.objects.filter(channel=Channel.PUSH).update(address="device+410")
    _withdraw(row)
    _run()
    assert _reasons(row) == ["withdrawing", "not_withdrawn"]
    assert not Withdrawal.objects.exists()


def test_a_later_message_with_the_same_collapse_key_stays(
    sent: Callable[..., Delivery], outbox: Outbox
) -> None:
    first = sent(collapse_key="score")
    second = sent(collapse_key="score")
    assert _withdraw(first) == [WithdrawalState.REPLACED]
    assert _withdraw(second) == [WithdrawalState.WITHDRAWING]
    third = sent(collapse_key="score")  # after the request and before the call
    _run()
    assert _reasons(second) == ["withdrawing", "not_withdrawn"]
    assert _effects(outbox, third) == ["shown"]


def test_a_switch_of_the_provider_holds_and_a_switch_of_the_type_does_not(
    sent: Callable[..., Delivery], outbox: Outbox
) -> None:
    row = sent()
    _withdraw(row)
    target = SwitchTarget(kind=SwitchKind.CHANNEL, value="push")
    switch = switch_operations.set_switch(target, reason="x", expires_at=None, by="maria")
    cached.forget()
    _run()
    assert _effects(outbox, row) == ["shown"]
    switch.delete()
    target = SwitchTarget(kind=SwitchKind.TYPE, value="LIKE")
    switch_operations.set_switch(target, reason="x", expires_at=None, by="maria")
    cached.forget()
    _due()
    _run()
    assert _effects(outbox, row) == ["shown", "withdrawn"]


def test_an_open_breaker_holds_withdrawals_and_failed_calls_open_it(
    sent: Callable[..., Delivery], outbox: Outbox
) -> None:
    row = sent()
    key = HealthKey("sandbox", Channel.PUSH)
    circuit_breakers.record_calls({key: CallStats(unavailable=50, last_failures=50, calls=50)})
    assert breaker_status.of([key])[key].is_open
    _withdraw(row)
    _run()
    assert _effects(outbox, row) == ["shown"]
    left = Withdrawal.objects.get()
    assert left.failures == 0
    assert left.due_at > clock.now()


def test_calls_keep_to_the_rate_of_the_provider(
    sent: Callable[..., Delivery], add_vendor: AddVendor, outbox: Outbox
) -> None:
    row = sent()
    others = [sent() for _ in range(3)]
    add_vendor("slow", withdraws=True, pace=Pace(per_second=1, burst=1))
    Attempt.objects.update(provider="slow")
    Delivery.objects.update(provider="slow")
    for each in (row, *others):
        _withdraw(each)
    _run()
    done = [each for each in (row, *others) if "withdrawn" in _effects(outbox, each)]
    assert len(done) == 1
    waiting = Withdrawal.objects.all()
    assert len(waiting) == 3
    assert any(each.slot_at for each in waiting)


def test_a_provider_that_cannot_remove_says_so(
    sent: Callable[..., Delivery], add_vendor: AddVendor
) -> None:
    row = sent()
    add_vendor("old", withdraws=False)
    Delivery.objects.filter(pk=row.pk).update(provider="old")
    assert _withdraw(row) == [WithdrawalState.UNSUPPORTED]


def test_an_unknown_notification_has_no_deliveries() -> None:
    assert withdraw.withdraw(clock.new_notification_id(), by="maria") == []


def test_a_delivery_that_is_gone_leaves_no_row() -> None:
    gone = ids.delivery_id(clock.new_notification_id(), 1)
    Withdrawal.objects.create(delivery_id=gone, due_at=clock.now(), ends_at=clock.now() + HOUR)
    _run()
    assert not Withdrawal.objects.exists()
