"""Failure receipts open the next channel of a chain once; receipts of a delivery stop channels."""

from __future__ import annotations

import datetime as dt
from collections.abc import Callable
from typing import Any
from uuid import UUID

import pytest
from django.contrib.postgres.functions import TransactionNow

from notifications.core import broker
from notifications.core.delivery import fall_back, routing
from notifications.core.feedback import client_receipts, delivery_receipts
from notifications.core.feedback.client_receipts import ClientReceipt
from notifications.core.models import (
    DeadLetter,
    Delivery,
    Notification,
    NotificationType,
    ProviderRoute,
)
from notifications.core.operations import replay
from notifications.core.rules.client_receipts import ClientReceiptKind, TokenHolder
from notifications.core.rules.fallback import FallbackOn
from notifications.core.rules.lane import Mode
from notifications.core.rules.states import Status
from notifications.core.store.cached import notification_types
from notifications.core.sweeps import due_rows
from notifications.core.sweeps.rounds import Swept
from providers.contract import Channel, Receipt, ReceiptKind
from tests.journey import CHAIN, Accept, AddVendor, Reach, chain_of, chain_statuses, deliver_chain

Outbox = Callable[[UUID], list[Any]]


@pytest.fixture(autouse=True)
def _no_broker(monkeypatch: pytest.MonkeyPatch) -> None:
    """No test needs the broker: each claims its rows itself."""
    monkeypatch.setattr(broker, "takes_messages", lambda: False)


def sweep() -> Swept:
    return due_rows.end_confirm_windows(limit=100)


def end_window(delivery: Delivery) -> None:
    Delivery.objects.filter(id=delivery.id).update(
        due_at=TransactionNow() - dt.timedelta(seconds=1)
    )


def delivered(row: Delivery) -> int:
    receipt = Receipt(kind=ReceiptKind.DELIVERED, delivery_id=row.id)
    return delivery_receipts.record("sandbox", [receipt])


def failure(row: Delivery) -> Receipt:
    return Receipt(kind=ReceiptKind.FAILED, delivery_id=row.id, code="30003")


def test_a_late_receipt_stops_a_channel_that_waits(
    outbox: Outbox, reach: Reach, take: Accept
) -> None:
    reach(push="token", sms="+15552020300")
    answer = take(**CHAIN)
    deliver_chain(answer)
    end_window(chain_of(answer)[0])
    sweep()
    assert delivered(chain_of(answer)[0]) == 1
    assert chain_statuses(answer) == [
        ("push", "delivered", "receipt_delivered"),
        ("sms", "cancelled", "confirmed_elsewhere"),
    ]
    del outbox


def test_a_failure_receipt_opens_the_next_channel(
    outbox: Outbox, reach: Reach, take: Accept
) -> None:
    reach(sms="+15552020300", email="maria@example.com")
    answer = take(**CHAIN)
    deliver_chain(answer)
    failed = Receipt(kind=ReceiptKind.FAILED, delivery_id=chain_of(answer)[0].id, code="30003")
    assert delivery_receipts.record("sandbox", [failed]) == 1
    assert delivery_receipts.record("sandbox", [failed]) == 0
    assert chain_statuses(answer) == [
        ("sms", "failed", "receipt_failed"),
        ("email", "queued", "fallback"),
    ]
    assert not DeadLetter.objects.exists()
    del outbox


def test_a_failure_receipt_after_the_next_channel_leaves_no_dead_letter(
    outbox: Outbox, reach: Reach, take: Accept
) -> None:
    reach(push="token", sms="+15552020300")
    answer = take(**CHAIN)
    deliver_chain(answer)
    end_window(chain_of(answer)[0])
    sweep()
    deliver_chain(answer)
    push, sms = chain_of(answer)
    assert delivered(sms) == 1
    assert delivery_receipts.record("sandbox", [failure(push)]) == 1
    assert [row[:2] for row in chain_statuses(answer)] == [
        ("push", "failed"),
        ("sms", "delivered"),
    ]
    assert not DeadLetter.objects.exists()
    del outbox


def test_a_failure_after_a_late_receipt_leaves_no_dead_letter(
    outbox: Outbox, reach: Reach, take: Accept
) -> None:
    reach(push="token", sms="+15552020300", email="maria@example.com")
    answer = take(**CHAIN)
    deliver_chain(answer)
    end_window(chain_of(answer)[0])
    sweep()
    deliver_chain(answer)
    push, sms = chain_of(answer)
    assert delivered(push) == 1
    assert delivery_receipts.record("sandbox", [failure(sms)]) == 1
    assert [row[:2] for row in chain_statuses(answer)] == [
        ("push", "delivered"),
        ("sms", "failed"),
    ]
    assert not DeadLetter.objects.exists()
    del outbox


def test_failures_of_two_channels_in_one_callback_leave_one_dead_letter(
    outbox: Outbox, reach: Reach, take: Accept
) -> None:
    reach(push="token", sms="+15552020300")
    answer = take(**CHAIN)
    deliver_chain(answer)
    end_window(chain_of(answer)[0])
    sweep()
    deliver_chain(answer)
    push, sms = chain_of(answer)
    assert delivery_receipts.record("sandbox", [failure(push), failure(sms)]) == 2
    assert [row.delivery_id for row in DeadLetter.objects.all()] == [sms.id]
    del outbox


def test_a_failure_receipt_finds_the_secrets_for_the_next_channel(
    outbox: Outbox, reach: Reach, take: Accept
) -> None:
    NotificationType.objects.update(fallback_on=FallbackOn.FAILURE)
    notification_types.forget()
    reach(sms="+15552020300", email="maria@example.com")
    answer = take(**CHAIN)
    deliver_chain(answer)
    assert delivery_receipts.record("sandbox", [failure(chain_of(answer)[0])]) == 1
    deliver_chain(answer)
    mail = chain_of(answer)[1]
    [shown] = outbox(mail.id)
    assert shown["body"] == "Ana: 4711"
    assert delivered(mail) == 1
    assert Notification.objects.get().secrets is None, "no delivery needs the code"


@pytest.mark.parametrize("claimed", [False, True])
def test_a_bounce_after_a_late_receipt_opens_the_channel_behind_the_stopped_one(
    outbox: Outbox, reach: Reach, take: Accept, monkeypatch: pytest.MonkeyPatch, *, claimed: bool
) -> None:
    # With `claimed` the claim comes before the receipt, so the gate does not see the receipt.
    monkeypatch.setattr(fall_back, "mark_members", lambda _deliveries: None)
    reach(email="maria@example.com", sms="+15554000000", push="token")
    answer = take(**CHAIN | {"channels": ["email", "sms", "push"]})
    deliver_chain(answer)
    end_window(chain_of(answer)[0])
    sweep()
    mail, sms = chain_of(answer)
    if claimed:
        Delivery.objects.filter(id=mail.id).update(status=Status.DELIVERED)
        deliver_chain(answer)
    else:
        assert delivered(mail) == 1
    bounce = Receipt(kind=ReceiptKind.BOUNCED, delivery_id=mail.id)
    assert delivery_receipts.record("sandbox", [bounce]) == 1
    assert delivery_receipts.record("sandbox", [bounce, failure(sms)]) == 0
    assert [row[:2] for row in chain_statuses(answer)] == [
        ("email", "bounced"),
        ("sms", "failed" if claimed else "cancelled"),
        ("push", "queued"),
    ]
    assert not DeadLetter.objects.exists()
    del outbox


def test_an_app_that_sends_receipts_starts_windows_and_ends_chains(
    add_vendor: AddVendor, reach: Reach, take: Accept
) -> None:
    add_vendor("silent", gives_receipts=False)
    ProviderRoute.objects.create(channel=Channel.PUSH, provider="silent")
    routing.forget()
    person = reach(push="token", sms="+15552020300")
    answer = take(**CHAIN)
    deliver_chain(answer)
    assert chain_of(answer)[0].due_at is None, "no receipt was ever sent"
    holder = TokenHolder(recipient_id=person.pk, mode=Mode.LIVE)
    received = ClientReceipt(kind=ClientReceiptKind.RECEIVED, subject=chain_of(answer)[0].id)
    assert client_receipts.record(holder, [received]) == 1
    answer = take(**CHAIN)
    deliver_chain(answer)
    [push] = chain_of(answer)
    assert push.due_at is not None, "the app sends receipts"
    end_window(push)
    sweep()
    assert [row[1] for row in chain_statuses(answer)] == ["unconfirmed", "queued"]
    late = ClientReceipt(kind=ClientReceiptKind.RECEIVED, subject=push.id)
    assert client_receipts.record(holder, [late]) == 1
    assert [row[1] for row in chain_statuses(answer)] == ["delivered", "cancelled"]


@pytest.mark.parametrize(
    ("channels", "second", "letters"),
    [
        ({"sms": "+15552020300", "email": "maria@example.com"}, ("email", "queued", "fallback"), 0),
        ({"sms": "+15552020300"}, None, 1),
    ],
)
def test_an_unanswered_call_that_an_operator_calls_failed_opens_the_next_channel(
    channels: dict[str, str],
    second: tuple[str, str, str] | None,
    letters: int,
    *,
    reach: Reach,
    take: Accept,
) -> None:
    reach(**channels)
    answer = take(**CHAIN)
    first = chain_of(answer)[0].id
    Delivery.objects.filter(id=first).update(status=Status.UNKNOWN, attempts=1)
    assert replay.resolve_unknown([first], as_sent=False, by="ada") == 1
    assert replay.resolve_unknown([first], as_sent=False, by="ada") == 0
    expected = [("sms", "failed", "operator"), *([second] if second else [])]
    assert chain_statuses(answer) == expected
    assert DeadLetter.objects.count() == letters
