"""What a service says later: verified first, then translated."""

from __future__ import annotations

import base64
import hashlib
import hmac
from collections.abc import Iterator, Mapping
from contextlib import closing
from datetime import UTC, datetime
from uuid import UUID

import orjson
import pytest

from providers.contract import Receipt, ReceiptKind, ReceiptRequest
from providers.email.anymail.adapter import Anymail
from providers.errors import InvalidSignature, MalformedReceipt
from providers.transport import Transport
from tests.providers.email.anymail.services_fake import PASSWORD, TOKEN, adapter

DELIVERY = UUID(int=7)
BOUNCED, FAILED = ReceiptKind.BOUNCED, ReceiptKind.FAILED
DELIVERED, READ = ReceiptKind.DELIVERED, ReceiptKind.READ


@pytest.fixture
def transport() -> Iterator[Transport]:
    with closing(Transport()) as it:
        yield it


@pytest.fixture
def postmark(transport: Transport) -> Anymail:
    return adapter("postmark", {"server_token": TOKEN}, transport=transport)


@pytest.fixture
def mailgun(transport: Transport) -> Anymail:
    options = {"api_key": TOKEN, "webhook_signing_key": "signing-key"}
    return adapter("mailgun", options, transport=transport)


def call(body: bytes, *, login: str = PASSWORD, mime: str = "application/json") -> ReceiptRequest:
    token = base64.b64encode(login.encode()).decode()
    return ReceiptRequest(
        url="https://notify.example/v1/receipts/anymail",
        headers={"authorization": f"Basic {token}", "content-type": mime},
        body=body,
    )


def from_postmark(**fields: object) -> bytes:
    about = {"MessageID": "pm-1", "Metadata": {"delivery_id": str(DELIVERY)}}
    return orjson.dumps(about | fields)


def from_mailgun(event: Mapping[str, object], *, key: str = "signing-key") -> bytes:
    stamp, token = "1774785600", "once"
    signature = hmac.new(key.encode(), (stamp + token).encode(), hashlib.sha256).hexdigest()
    signed = {"timestamp": stamp, "token": token, "signature": signature}
    data = {
        "timestamp": 1774785600.5,
        "user-variables": {"delivery_id": str(DELIVERY)},
        "message": {"headers": {"message-id": "mg-1@shop.example"}},
        "recipient": "maria@mailbox.example",
    }
    return orjson.dumps({"signature": signed, "event-data": data | dict(event)})


def only(receipts: object) -> Receipt:
    assert isinstance(receipts, list)
    (receipt,) = receipts
    assert isinstance(receipt, Receipt)
    return receipt


@pytest.mark.parametrize(
    ("fields", "kind", "dead"),
    [
        ({"RecordType": "Delivery"}, DELIVERED, False),
        ({"RecordType": "Open"}, READ, False),
        ({"RecordType": "Click"}, READ, False),
        ({"RecordType": "SpamComplaint", "Type": "SpamComplaint"}, READ, True),
        (
            {"RecordType": "SubscriptionChange", "SuppressionReason": "ManualSuppression"},
            READ,
            False,
        ),
        ({"RecordType": "Bounce", "Type": "HardBounce"}, BOUNCED, True),
        ({"RecordType": "Bounce", "Type": "SoftBounce"}, BOUNCED, False),
        ({"RecordType": "Bounce", "Type": "VirusNotification"}, BOUNCED, False),
        ({"RecordType": "Bounce", "Type": "BadEmailAddress"}, FAILED, True),
        ({"RecordType": "Bounce", "Type": "Blocked"}, FAILED, False),
        ({"RecordType": "Bounce", "Type": "SMTPApiError"}, FAILED, False),
    ],
)
def test_each_event_has_its_receipt(
    postmark: Anymail, fields: dict[str, str], kind: ReceiptKind, *, dead: bool
) -> None:
    receipt = only(postmark.parse_receipt(call(from_postmark(**fields))))
    assert (receipt.kind, receipt.contact_is_dead) == (kind, dead)
    assert receipt.delivery_id == DELIVERY
    assert receipt.provider_message_id == "pm-1"


@pytest.mark.parametrize(
    "fields",
    [
        {"RecordType": "Bounce", "Type": "Transient"},
        {"RecordType": "Bounce", "Type": "AutoResponder"},
        {"RecordType": "SubscriptionChange", "SuppressSending": False},
        {"RecordType": "SomethingNew"},
        {"RecordType": "Delivery", "Metadata": {}, "MessageID": None},
    ],
)
def test_what_moves_no_delivery_is_no_receipt(postmark: Anymail, fields: dict[str, object]) -> None:
    assert postmark.parse_receipt(call(from_postmark(**fields))) == []


@pytest.mark.parametrize(
    ("service", "event", "dead"),
    [
        ("brevo", {"event": "hard_bounce"}, True),
        ("brevo", {"event": "soft_bounce"}, False),
        ("mailjet", {"event": "bounce", "error": "user unknown", "hard_bounce": True}, True),
        ("mailjet", {"event": "bounce", "error": "quota exceeded", "hard_bounce": False}, False),
        ("sparkpost", {"type": "bounce", "bounce_class": "10"}, True),
        ("sparkpost", {"type": "bounce", "bounce_class": "30"}, True),
        ("sparkpost", {"type": "bounce", "bounce_class": "22"}, False),
        ("sparkpost", {"type": "bounce", "bounce_class": "51"}, False),
    ],
)
def test_only_a_hard_bounce_ends_an_address(
    transport: Transport, service: str, event: dict[str, object], *, dead: bool
) -> None:
    keys = {"api_key": TOKEN} | ({"secret_key": TOKEN} if service == "mailjet" else {})
    provider = adapter(service, keys, transport=transport)
    message_ids = {"message-id": "1", "MessageID": 1, "transmission_id": "1"}
    said: object = message_ids | event
    if service == "sparkpost":
        said = [{"msys": {"message_event": said}}]
    receipt = only(provider.parse_receipt(call(orjson.dumps(said))))
    assert (receipt.kind, receipt.contact_is_dead) == (BOUNCED, dead)
    assert (receipt.delivery_id, receipt.provider_message_id) == (None, "1")


def test_a_signed_callback_says_when_and_why_and_hides_the_address(mailgun: Anymail) -> None:
    failed = {
        "event": "failed",
        "severity": "permanent",
        "reason": "bounce",
        "delivery-status": {"message": "5.1.1 <maria@mailbox.example>\nno such user"},
    }
    receipt = only(mailgun.parse_receipt(call(from_mailgun(failed))))
    assert receipt == Receipt(
        kind=BOUNCED,
        delivery_id=DELIVERY,
        provider_message_id="<mg-1@shop.example>",
        occurred_at=datetime.fromtimestamp(1774785600.5, UTC),
        code="bounce",
        detail="5.1.1 <[address]> no such user",
        contact_is_dead=True,
    )


def test_a_replayed_callback_says_the_same(mailgun: Anymail) -> None:
    body = from_mailgun({"event": "delivered"})
    assert mailgun.parse_receipt(call(body)) == mailgun.parse_receipt(call(body))


def test_a_forged_signature_is_refused(mailgun: Anymail) -> None:
    forged = call(from_mailgun({"event": "delivered"}, key="guessed"))
    with pytest.raises(InvalidSignature):
        mailgun.parse_receipt(forged)


@pytest.mark.parametrize("login", ["", "hook", "hook:guessed", "hook:hunter2x"])
def test_a_wrong_password_is_refused(postmark: Anymail, login: str) -> None:
    with pytest.raises(InvalidSignature):
        postmark.parse_receipt(call(from_postmark(RecordType="Delivery"), login=login))


@pytest.mark.parametrize(
    "body", [b"", b"null", b"[]", b"\xff", b"{}", b"[" * 5_000, b'{"signature": {"token": 1}}']
)
@pytest.mark.parametrize("mime", ["application/json", "", "multipart/form-data", "text/xml"])
def test_nonsense_from_a_stranger_is_refused(mailgun: Anymail, body: bytes, mime: str) -> None:
    with pytest.raises(InvalidSignature):
        mailgun.parse_receipt(call(body, mime=mime))


@pytest.mark.parametrize(
    "body",
    [
        b"", b"null", b"[]", b"7", b"\xff", b"[" * 5_000,
        b'{"RecordType": "Inbound"}', b'{"RecordType": []}', b'{"Metadata": 7}',
        b'{"RecordType": "Delivery", "DeliveredAt": 7}',
    ],
)  # fmt: skip
def test_a_verified_callback_that_cannot_be_read_is_malformed(
    postmark: Anymail, body: bytes
) -> None:
    with pytest.raises(MalformedReceipt):
        postmark.parse_receipt(call(body))
