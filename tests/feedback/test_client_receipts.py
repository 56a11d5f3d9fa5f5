"""Reports of apps share transactions, and race with receipts of providers."""

from __future__ import annotations

from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from threading import Barrier
from uuid import UUID

import pytest
from django.db import connection

from notifications.core.feedback import client_receipts, delivery_receipts
from notifications.core.feedback.client_receipts import ClientReceipt
from notifications.core.models import Contact, Delivery, Event, Recipient
from notifications.core.rules import ids
from notifications.core.rules.client_receipts import MEANS, ClientReceiptKind, TokenHolder
from notifications.core.rules.lane import Mode
from notifications.core.rules.states import Status
from providers.contract import Receipt, ReceiptKind
from tests.store.stored_rows import MakeDelivery

CLICKED, OPENED = ClientReceiptKind.CLICKED, ClientReceiptKind.OPENED
RECEIVED = ClientReceiptKind.RECEIVED
_ROUNDS = 10


def _holder(delivery_id: UUID) -> TokenHolder:
    row = Delivery.objects.get(pk=delivery_id)
    return TokenHolder(recipient_id=row.recipient_id, mode=Mode(row.mode))


def _status(delivery_id: UUID) -> Status:
    return Status(Delivery.objects.get(pk=delivery_id).status)


def test_each_kind_has_a_meaning() -> None:
    assert set(MEANS) == set(ClientReceiptKind)


def test_calls_of_several_recipients_in_one_group_keep_to_their_own_rows(
    make_delivery: MakeDelivery,
) -> None:
    mine, theirs = (make_delivery(Status.SENT, attempts=1) for _ in range(2))
    other = Recipient.objects.create(user_id="other", mode=Mode.LIVE)
    Delivery.objects.filter(pk=theirs).update(recipient_id=other.pk)
    both = [ClientReceipt(kind=OPENED, subject=each) for each in (mine, theirs)]
    calls = [
        client_receipts._Call(_holder(mine), both[1:]),
        client_receipts._Call(_holder(mine), both),
        client_receipts._Call(_holder(mine), both),
    ]
    answers, _ = client_receipts._group._together(calls)
    assert list(answers) == [0, 1, 0], "a change counts for its first call"
    assert (_status(mine), _status(theirs)) == (Status.READ, Status.SENT)
    calls.append(client_receipts._Call(_holder(theirs), both))
    answers, _ = client_receipts._group._together(calls)
    assert list(answers) == [0, 0, 0, 1]
    assert _status(theirs) is Status.READ


def _clicks(delivery_id: UUID) -> list[int | None]:
    rows = Event.objects.filter(delivery_id=delivery_id, reason="client_clicked")
    return list(rows.values_list("status", flat=True))


def test_a_click_after_an_opening_is_an_event_once(make_delivery: MakeDelivery) -> None:
    delivery_id = make_delivery(Status.SENT, attempts=1)
    holder = _holder(delivery_id)
    for kind in (OPENED, CLICKED, CLICKED):
        client_receipts.record(holder, [ClientReceipt(kind=kind, subject=delivery_id)])
    assert _status(delivery_id) is Status.READ
    assert _clicks(delivery_id) == [None]


def test_a_click_that_reads_the_message_is_one_event(make_delivery: MakeDelivery) -> None:
    delivery_id = make_delivery(Status.SENT, attempts=1)
    for kind in (CLICKED, CLICKED, OPENED):
        receipt = ClientReceipt(kind=kind, subject=delivery_id)
        client_receipts.record(_holder(delivery_id), [receipt])
    assert _clicks(delivery_id) == [Status.READ]


@pytest.mark.django_db(transaction=True)
def test_an_app_and_a_provider_that_report_at_once_leave_one_status(
    make_delivery: MakeDelivery,
) -> None:
    for _ in range(_ROUNDS):
        delivery_id = make_delivery(Status.SENT, attempts=1, provider="fcm")
        holder, start = _holder(delivery_id), Barrier(3)
        report = Receipt(kind=ReceiptKind.DELIVERED, delivery_id=delivery_id)
        opened = ClientReceipt(kind=OPENED, subject=delivery_id)
        received = ClientReceipt(kind=RECEIVED, subject=ids.notification_of(delivery_id))

        def at_once(work: Callable[[], int], start: Barrier = start) -> int:
            start.wait(20)
            try:
                return work()
            finally:
                connection.close()

        with ThreadPoolExecutor(3) as pool:
            changed = [
                pool.submit(at_once, lambda: client_receipts.record(holder, [opened])),  # noqa: B023 - ends in the round
                pool.submit(at_once, lambda: client_receipts.record(holder, [received])),  # noqa: B023 - ends in the round
                pool.submit(at_once, lambda: delivery_receipts.record("fcm", [report])),  # noqa: B023 - ends in the round
            ]
            total = sum(each.result(20) for each in changed)
        assert _status(delivery_id) is Status.READ
        told = Event.objects.filter(notification_id=ids.notification_of(delivery_id))
        moves = [each for each in told if each.status in {Status.DELIVERED, Status.READ}]
        assert len(moves) in {1, 2}
        # Two reports of the app may share a transaction, which changes the delivery once.
        assert 1 <= total <= len(moves)
    assert Contact.objects.get().client_receipt_at is not None
