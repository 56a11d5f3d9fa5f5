"""Receipts change the status of a delivery, late, twice and in any order."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any
from uuid import UUID

import pytest

from notifications.core.delivery import deliver, rescue
from notifications.core.feedback import delivery_receipts
from notifications.core.models import (
    Contact,
    DeadLetter,
    Delivery,
    Event,
)
from notifications.core.rules.redaction import CODE_LENGTH
from notifications.core.rules.states import Status
from providers.contract import (
    Receipt,
    ReceiptKind,
    Unanswered,
)
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


@pytest.mark.usefixtures("outbox")
def test_receipts_move_a_delivery_once_in_whatever_order(reach: Reach, take: Accept) -> None:
    reach(email="maria@sandbox.example")
    [row] = deliveries_of(take())
    deliver.deliver([row.id])
    read = Receipt(kind=ReceiptKind.READ, delivery_id=row.id)
    delivered = Receipt(kind=ReceiptKind.DELIVERED, delivery_id=row.id)
    assert delivery_receipts.record("sandbox", [read]) == 1
    assert delivery_receipts.record("sandbox", [delivered, read]) == 0
    assert delivery_receipts.record("somebody-else", [read]) == 0
    assert status_and_reason(row.id)[0] is Status.READ


@pytest.mark.usefixtures("outbox")
@pytest.mark.parametrize("kind", [ReceiptKind.DELIVERED, ReceiptKind.READ])
def test_a_receipt_of_success_closes_the_dead_letter_of_an_earlier_failure(
    reach: Reach, take: Accept, kind: ReceiptKind
) -> None:
    reach(sms="+15552020300")
    [row] = deliveries_of(take(channels=["sms"]))
    deliver.deliver([row.id])
    failed = Receipt(kind=ReceiptKind.FAILED, delivery_id=row.id, code="30005")
    assert delivery_receipts.record("sandbox", [failed]) == 1
    assert DeadLetter.objects.get().resolved_at is None
    for count in (1, 0):
        said = Receipt(kind=kind, delivery_id=row.id)
        assert delivery_receipts.record("sandbox", [said]) == count
    letter = DeadLetter.objects.get()
    assert (letter.resolved_at is not None, letter.resolution) == (True, kind.value)


@pytest.mark.usefixtures("outbox")
def test_the_code_of_a_receipt_is_kept_as_that_of_an_answer(reach: Reach, take: Accept) -> None:
    reach(sms="+15552020300")
    [row] = deliveries_of(take(channels=["sms"]))
    deliver.deliver([row.id])
    code = "blocked for maria@example.com\n\x00" + "x" * 1_000
    failed = Receipt(kind=ReceiptKind.FAILED, delivery_id=row.id, code=code)
    assert delivery_receipts.record("sandbox", [failed]) == 1
    said = Event.objects.filter(delivery_id=row.id).latest("seq").detail
    assert said.startswith("blocked for <mailbox> xxx")
    assert len(said) <= CODE_LENGTH


@pytest.mark.usefixtures("outbox")
def test_a_receipt_is_found_by_the_providers_own_id(reach: Reach, take: Accept) -> None:
    reach(email="maria@sandbox.example")
    [row] = deliveries_of(take())
    deliver.deliver([row.id])
    known = Delivery.objects.get(id=row.id).provider_message_id
    bounced = Receipt(
        kind=ReceiptKind.BOUNCED, provider_message_id=known, contact_is_dead=True, code="5.1.1"
    )
    assert delivery_receipts.record("sandbox", [bounced]) == 1
    assert status_and_reason(row.id) == (Status.BOUNCED, "receipt_bounced")
    assert Contact.objects.get(address="maria@sandbox.example").invalidated_at is not None


@pytest.mark.usefixtures("outbox")
def test_a_receipt_that_moves_nothing_can_still_end_an_address(reach: Reach, take: Accept) -> None:
    reach(email="maria@sandbox.example")
    [row] = deliveries_of(take())
    deliver.deliver([row.id])
    delivery_receipts.record("sandbox", [Receipt(kind=ReceiptKind.READ, delivery_id=row.id)])
    complaint = Receipt(
        kind=ReceiptKind.BOUNCED, delivery_id=row.id, contact_is_dead=True, code="complaint"
    )
    assert delivery_receipts.record("somebody-else", [complaint]) == 0
    assert Contact.objects.get().invalidated_at is None
    assert delivery_receipts.record("sandbox", [complaint]) == 0
    contact = Contact.objects.get()
    assert contact.invalid_reason == "sandbox: complaint"
    again = Receipt(kind=ReceiptKind.BOUNCED, delivery_id=row.id, contact_is_dead=True, code="late")
    delivery_receipts.record(
        "sandbox", [again, Receipt(kind=ReceiptKind.BOUNCED, delivery_id=UUID(int=1))]
    )
    assert Contact.objects.get().invalidated_at == contact.invalidated_at
    assert status_and_reason(row.id)[0] is Status.READ


def test_a_receipt_of_an_unanswered_call_counts_while_the_resend_is_held(
    scripted: Scripted, take: Accept
) -> None:
    [row] = take_rows(take, 1, priority="P1")
    scripted.answer = lambda batch: ((each, Unanswered(code="timeout")) for each in batch)
    deliver.deliver([row])
    assert statuses([row]) == [Status.UNKNOWN]
    assert rescue.resend_or_close([lapse(row)]) == 1
    assert statuses([row]) == [Status.QUEUED]
    held = {"status": Status.SCHEDULED, "reason": "breaker"}
    Delivery.objects.filter(id=row).update(**held)
    receipt = Receipt(kind=ReceiptKind.DELIVERED, delivery_id=row)
    assert delivery_receipts.record(scripted.name, [receipt]) == 1
    assert statuses([row]) == [Status.DELIVERED]
