"""Meta's callbacks: the check of the sender, the receipts and texts, and the challenge."""

from __future__ import annotations

from dataclasses import replace
from datetime import UTC, datetime
from uuid import UUID

import pytest

from providers.chat.whatsapp_codes import TABLE
from providers.chat.whatsapp_receipts import LONGEST_CHALLENGE, WhatsAppReceipts
from providers.contract import Channel, InboundText, Receipt, ReceiptKind
from providers.errors import InvalidSignature, MalformedReceipt
from tests.providers.chat.whatsapp_fake import (
    APP_SECRET,
    MESSAGE_ID,
    VERIFY_TOKEN,
    callback,
    change,
    signature,
    status,
    written,
)

DELIVERY = UUID(int=7)
READER = WhatsAppReceipts(app_secret=APP_SECRET, verify_token=VERIFY_TOKEN, codes={})
CHALLENGE = {
    "hub.mode": "subscribe",
    "hub.verify_token": VERIFY_TOKEN,
    "hub.challenge": "1158201444",
}


def receipt_of(name: str, code: int | None = None) -> Receipt:
    told = change(statuses=[status(name, delivery_id=DELIVERY, code=code)])
    (receipt,) = READER.parse(callback(told))
    assert isinstance(receipt, Receipt)
    return receipt


@pytest.mark.parametrize(
    ("name", "kind"), [("delivered", ReceiptKind.DELIVERED), ("read", ReceiptKind.READ)]
)
def test_an_arrival_names_the_delivery(name: str, kind: ReceiptKind) -> None:
    assert receipt_of(name) == Receipt(
        kind=kind,
        delivery_id=DELIVERY,
        provider_message_id=MESSAGE_ID,
        occurred_at=datetime(2025, 6, 15, 23, 27, 53, tzinfo=UTC),
    )


@pytest.mark.parametrize("code", TABLE)
def test_a_refusal_bounces_and_any_other_loss_fails(code: str) -> None:
    receipt = receipt_of("failed", int(code))
    expected = ReceiptKind.BOUNCED if TABLE[code].is_rejection else ReceiptKind.FAILED
    assert (receipt.kind, receipt.code) == (expected, code)
    assert receipt.detail.startswith("needs an approved template") == (code == "131047")
    assert not receipt.contact_is_dead


def test_a_loss_without_a_code_fails() -> None:
    assert (receipt_of("failed").kind, receipt_of("failed").code) == (ReceiptKind.FAILED, "failed")


@pytest.mark.parametrize("name", ["sent", "played", "deleted"])
def test_an_intermediate_status_says_nothing(name: str) -> None:
    assert READER.parse(callback(change(statuses=[status(name)]))) == []


def test_a_message_of_another_system_has_its_id_alone() -> None:
    told = change(statuses=[status("read"), status("read", delivery_id="not-ours")])
    found = READER.parse(callback(told))
    assert [each.delivery_id for each in found if isinstance(each, Receipt)] == [None, None]


@pytest.mark.parametrize(
    "content",
    [
        {"type": "text", "text": {"body": "STOP"}},
        {"type": "button", "button": {"text": "STOP", "payload": "x"}},
        {"type": "interactive", "interactive": {"button_reply": {"id": "1", "title": "STOP"}}},
    ],
)
def test_what_a_person_writes_or_taps_is_a_text(content: dict[str, object]) -> None:
    about = {"from": "491511234567", "id": "wamid.1", "timestamp": "1750030073"}
    (text,) = READER.parse(callback(change(messages=[about | content])))
    assert text == InboundText(
        from_address="whatsapp:+491511234567",
        to_address="15550783881",
        text="STOP",
        provider_message_id="wamid.1",
        channel=Channel.CHAT,
    )


def test_a_picture_has_no_text() -> None:
    picture = {"from": "491511234567", "id": "1", "type": "image", "image": {"id": "2"}}
    (text,) = READER.parse(callback(change(messages=[picture])))
    assert isinstance(text, InboundText)
    assert text.text == ""


def test_a_callback_can_hold_several_of_both() -> None:
    told = change(statuses=[status("read"), status("delivered")], messages=[written("Hi")])
    told["entry"] += change(messages=[written("STOP")])["entry"]
    told["entry"][0]["changes"].append({"field": "template_review", "value": {}})
    assert len(READER.parse(callback(told))) == 4


@pytest.mark.parametrize(
    "odd",
    [
        {"id": "1", "type": "text", "from_user_id": "US.1", "text": {"body": "STOP"}},
        {"from": "491511234567", "type": "text", "text": {"body": "Hi"}},
        "text",
    ],
)
def test_an_item_of_another_form_costs_no_other_item(odd: object) -> None:
    told = change(
        statuses=[status("delivered", delivery_id=DELIVERY)], messages=[odd, written("STOP")]
    )
    receipt, text = READER.parse(callback(told))
    assert isinstance(receipt, Receipt)
    assert isinstance(text, InboundText)
    assert (receipt.delivery_id, text.text) == (DELIVERY, "STOP")
    with pytest.raises(MalformedReceipt):
        READER.parse(callback(change(messages=[odd])))


def test_a_loss_whose_error_has_no_code_fails() -> None:
    told = change(statuses=[status("failed") | {"errors": [{"title": "lost"}]}])
    (receipt,) = READER.parse(callback(told))
    assert isinstance(receipt, Receipt)
    assert (receipt.kind, receipt.code) == (ReceiptKind.FAILED, "failed")


def test_only_meta_is_believed() -> None:
    true = callback(change(statuses=[status("read")]))
    forged = [
        callback(change(statuses=[status("read")]), secret="another"),
        replace(true, body=true.body + b" "),
        replace(true, headers={}),
        replace(true, headers={"x-hub-signature-256": ""}),
        replace(true, headers={"x-hub-signature-256": true.headers["x-hub-signature-256"][7:]}),
        replace(true, headers={"x-hub-signature-256": "sha256=ü"}),
    ]
    assert len(READER.parse(true)) == 1
    for each in forged:
        with pytest.raises(InvalidSignature):
            READER.parse(each)


@pytest.mark.parametrize(
    "content",
    [
        [],
        5,
        {},
        {"entry": 5},
        {"entry": [{"changes": [{"field": "messages"}]}]},
        change(statuses=[{}]),
        change(statuses=[status("read") | {"timestamp": "soon"}]),
        change(statuses=[status("read") | {"timestamp": "9" * 18}]),
        change(statuses=[status("failed") | {"errors": [5]}]),
        change(statuses=[status("read") | {"biz_opaque_callback_data": 5}]),
        change(messages=[{"id": "1"}]),
    ],
)
def test_a_signed_text_that_is_no_callback_is_malformed(content: object) -> None:
    with pytest.raises(MalformedReceipt):
        READER.parse(callback(content))


def test_a_body_that_is_no_json_is_malformed() -> None:
    body = b'{"entry": ['
    signed = replace(callback({}), body=body, headers={"x-hub-signature-256": signature(body)})
    with pytest.raises(MalformedReceipt):
        READER.parse(signed)


def test_the_challenge_is_answered_with_the_right_token_alone() -> None:
    assert READER.answer_challenge(CHALLENGE) == "1158201444"
    wrong = [
        {},
        CHALLENGE | {"hub.verify_token": "another"},
        CHALLENGE | {"hub.verify_token": ""},
        CHALLENGE | {"hub.verify_token": "ü"},
        CHALLENGE | {"hub.mode": "unsubscribe"},
        CHALLENGE | {"hub.challenge": ""},
        CHALLENGE | {"hub.challenge": "1" * (LONGEST_CHALLENGE + 1)},
    ]
    for each in wrong:
        with pytest.raises(InvalidSignature):
            READER.answer_challenge(each)
