"""A failure receipt ends a delivery only if the receipt is about the last call."""

from __future__ import annotations

from uuid import UUID

import pytest
from django.db.models.functions import Now

from notifications.core import broker
from notifications.core.delivery import deliver
from notifications.core.feedback import delivery_receipts
from notifications.core.models import DeadLetter, Delivery, Event
from notifications.core.rules.states import Status
from notifications.core.store.postgres import attempts
from notifications.core.store.postgres.attempts import AttemptRow
from providers.contract import Receipt, ReceiptKind
from tests.journey import CHAIN, Accept, Reach, chain_of, chain_statuses, status_and_reason
from tests.store.stored_rows import MakeDelivery

FAILURES = [ReceiptKind.FAILED, ReceiptKind.BOUNCED]
of_each_failure = pytest.mark.parametrize("kind", FAILURES)
FIRST, SECOND = "SM1", "SM2"


def _call(
    delivery_id: UUID, number: int, message_id: str = "", *, provider: str = "twilio"
) -> None:
    outcome = "accepted" if message_id else "unanswered"
    row = AttemptRow(delivery_id, number, outcome, code="", detail=message_id, latency_ms=1)
    attempts.record([row], provider=provider)


def _receipt(kind: ReceiptKind, delivery_id: UUID, message_id: str) -> Receipt:
    return Receipt(kind=kind, delivery_id=delivery_id, provider_message_id=message_id, code="30005")


def _told(delivery_id: UUID) -> list[tuple[int | None, str]]:
    rows = Event.objects.filter(delivery_id=delivery_id, reason__startswith="receipt_")
    return list(rows.order_by("seq").values_list("status", "detail"))


@of_each_failure
@pytest.mark.parametrize("first", ["", FIRST], ids=["unanswered", "accepted"])
@pytest.mark.parametrize(
    ("row", "text"),
    [
        ({"status": Status.QUEUED, "attempts": 1}, "call 1 of 1: 30005"),
        ({"status": Status.RETRYING, "attempts": 1}, "call 1 of 1: 30005"),
        ({"status": Status.SENDING, "attempts": 1}, "call 1 of 1: 30005"),
        (
            {"status": Status.SENDING, "attempts": 2, "call_started_at": Now()},
            "call 1 of 2: 30005",
        ),
        (
            {"status": Status.SENT, "attempts": 2, "provider_message_id": SECOND},
            "call 1 of 2: 30005",
        ),
    ],
    ids=["queued", "retrying", "claimed", "running", "accepted"],
)
def test_a_failure_of_an_earlier_call_is_a_line_of_the_timeline_and_nothing_else(
    make_delivery: MakeDelivery, kind: ReceiptKind, first: str, row: dict[str, object], text: str
) -> None:
    delivery_id = make_delivery(**{"provider": "twilio", **row})
    _call(delivery_id, 1, first)
    if row["status"] is Status.SENT:
        _call(delivery_id, 2, SECOND)
    before = Delivery.objects.filter(id=delivery_id).values().get()
    for _ in range(2):
        receipt = _receipt(kind, delivery_id, FIRST)
        assert delivery_receipts.record("twilio", [receipt]) == 0
    assert Delivery.objects.filter(id=delivery_id).values().get() == before
    assert _told(delivery_id) == [(None, text)]
    assert not DeadLetter.objects.exists()


@of_each_failure
def test_the_failure_of_the_last_call_counts_beside_an_earlier_failure(
    make_delivery: MakeDelivery, kind: ReceiptKind
) -> None:
    delivery_id = make_delivery(
        Status.SENT, provider="twilio", attempts=2, provider_message_id=SECOND
    )
    _call(delivery_id, 1)
    _call(delivery_id, 2, SECOND)
    both = [_receipt(kind, delivery_id, each) for each in (SECOND, FIRST)]
    assert delivery_receipts.record("twilio", both) == 1
    assert status_and_reason(delivery_id)[1] == f"receipt_{kind.value}"
    assert Delivery.objects.get(id=delivery_id).provider_message_id == SECOND


@of_each_failure
def test_a_failure_reported_by_the_provider_before_the_last_one_moves_nothing(
    make_delivery: MakeDelivery, kind: ReceiptKind
) -> None:
    delivery_id = make_delivery(
        Status.SENT, provider="vonage", attempts=2, provider_message_id=SECOND
    )
    _call(delivery_id, 1)
    _call(delivery_id, 2, SECOND, provider="vonage")
    receipt = _receipt(kind, delivery_id, "")
    assert delivery_receipts.record("twilio", [receipt]) == 0
    assert status_and_reason(delivery_id)[0] is Status.SENT
    assert delivery_receipts.record("vonage", [receipt]) == 1


@of_each_failure
@pytest.mark.parametrize("message_id", ["", "a-further-part"])
def test_a_failure_without_a_known_id_is_about_the_only_call(
    make_delivery: MakeDelivery, kind: ReceiptKind, message_id: str
) -> None:
    delivery_id = make_delivery(
        Status.SENT, provider="vonage", attempts=1, provider_message_id=FIRST
    )
    _call(delivery_id, 1, FIRST, provider="vonage")
    receipt = _receipt(kind, delivery_id, message_id)
    assert delivery_receipts.record("vonage", [receipt]) == 1


def test_what_an_earlier_call_delivered_does_not_bounce_with_a_later_call(
    make_delivery: MakeDelivery,
) -> None:
    delivery_id = make_delivery(
        Status.SENT, provider="twilio", attempts=2, provider_message_id=SECOND
    )
    _call(delivery_id, 1)
    _call(delivery_id, 2, SECOND)
    delivered = _receipt(ReceiptKind.DELIVERED, delivery_id, FIRST)
    assert delivery_receipts.record("twilio", [delivered]) == 1
    bounced = _receipt(ReceiptKind.BOUNCED, delivery_id, SECOND)
    assert delivery_receipts.record("twilio", [bounced]) == 0
    assert status_and_reason(delivery_id)[0] is Status.DELIVERED
    assert _told(delivery_id)[-1] == (None, "call 2 of 2: 30005")


def test_a_failure_of_an_earlier_call_opens_no_further_channel(
    outbox: object, reach: Reach, take: Accept, monkeypatch: pytest.MonkeyPatch
) -> None:
    del outbox
    monkeypatch.setattr(broker, "takes_messages", lambda: False)
    reach(sms="+15552020300", email="maria@example.com")
    answer = take(**CHAIN)
    [sms] = chain_of(answer)
    _call(sms.id, 1, provider="sandbox")  # the resend of an unanswered call
    Delivery.objects.filter(id=sms.id).update(attempts=1, resent=True, provider="sandbox")
    deliver.deliver([sms.id])
    assert chain_statuses(answer) == [("sms", "sent", "")]
    failed = _receipt(ReceiptKind.FAILED, sms.id, FIRST)
    assert delivery_receipts.record("sandbox", [failed]) == 0
    assert chain_statuses(answer) == [("sms", "sent", "")]
