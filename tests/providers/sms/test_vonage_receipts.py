"""Vonage's delivery receipts: the check of the sender, and the receipts read from them."""

from __future__ import annotations

import hmac
from base64 import urlsafe_b64encode
from collections.abc import Mapping
from hashlib import sha256
from urllib.parse import urlencode
from uuid import UUID

import orjson
import pytest

from providers.contract import InboundText, Receipt, ReceiptKind, ReceiptRequest
from providers.errors import InvalidSignature, MalformedReceipt
from providers.sms.vonage_codes import FAILURES
from providers.sms.vonage_receipts import Method, VonageReceipts
from providers.verdicts import Verdict

SECRET = "a-signature-secret-of-thirty-two"
DELIVERY = UUID(int=7)
MESSAGE_ID = "0A0000001234567B"
READER = VonageReceipts(secret=SECRET, method=Method.SHA256, codes={})
BOUNCES = {verdict for verdict in Verdict if verdict.is_rejection}
EXAMPLE = {
    "msisdn": "447700900000",
    "to": "Acme & Co = x",
    "network-code": "12345",
    "messageId": MESSAGE_ID,
    "price": "0.03330000",
    "status": "delivered",
    "scts": "2001011400",
    "err-code": "0",
    "api-key": "abcd1234",
    "client-ref": str(DELIVERY),
    "message-timestamp": "2020-01-01 12:00:00",
    "timestamp": "1582650446",
    "nonce": "ec11dd3e-1e7f-4db5-9467-82b02cd223b9",
}
SIGNED_BY_VONAGES_CLIENT = {
    Method.SHA256: "cd831f8a91b217da40be075f3c447355f17f11deda1344f014d7cdbdddae175d",
    Method.SHA512: (
        "0c9edca6354ffd784f02b22f6d849326a8c3217d485fea2503a7ae6c50bf6791"
        "3ef91c5336f58f3ae1667f6adfa87d5ee9f1518e29c3ddde2659664a65632a9c"
    ),
}
"""EXAMPLE, signed by vonage-http-client 1.5.2."""
DELIVERED = Receipt(
    kind=ReceiptKind.DELIVERED, delivery_id=DELIVERY, provider_message_id=MESSAGE_ID
)


def token(claims: Mapping[str, object], *, secret: str = SECRET, algorithm: str = "HS256") -> str:
    """A JWT, made by hand."""

    def coded(part: bytes) -> str:
        return urlsafe_b64encode(part).rstrip(b"=").decode()

    head = orjson.dumps({"alg": algorithm, "typ": "JWT"})
    signed = f"{coded(head)}.{coded(orjson.dumps(claims))}"
    signature = hmac.digest(secret.encode(), signed.encode(), "sha256")
    return f"{signed}.{coded(signature if algorithm == 'HS256' else b'')}"


def with_token(body: bytes, **changes: object) -> ReceiptRequest:
    claims = {
        "iat": 1582650446,
        "jti": "c5ba8f24-1a14-4c10-bfdf-3fbe8ce511b5",
        "iss": "Vonage",
        "payload_hash": sha256(body).hexdigest(),
        "api_key": "abcd1234",
    }
    return bearing(token(claims | changes), body)


def bearing(text: str, body: bytes) -> ReceiptRequest:
    return ReceiptRequest(url="", headers={"authorization": f"Bearer {text}"}, body=body)


def unsigned(body: bytes) -> ReceiptRequest:
    return ReceiptRequest(url="", headers={}, body=body)


def receipt_of(**changes: str) -> list[Receipt]:
    return receipts_in(with_token(orjson.dumps(EXAMPLE | changes)))


def receipts_in(request: ReceiptRequest, reader: VonageReceipts = READER) -> list[Receipt]:
    return [each for each in reader.parse(request) if isinstance(each, Receipt)]


@pytest.mark.parametrize("encode", [orjson.dumps, lambda fields: urlencode(fields).encode()])
def test_a_receipt_with_a_token_names_its_delivery(encode: object) -> None:
    assert callable(encode)
    request = with_token(encode(EXAMPLE))
    assert READER.parse(request) == [DELIVERED]
    assert READER.parse(request) == [DELIVERED], "a replay says the same again"


@pytest.mark.parametrize("method", Method)
@pytest.mark.parametrize("encode", [orjson.dumps, lambda fields: urlencode(fields).encode()])
def test_a_receipt_that_vonages_client_signed_is_believed(method: Method, encode: object) -> None:
    assert callable(encode)
    reader = VonageReceipts(secret=SECRET, method=method, codes={})
    signature = SIGNED_BY_VONAGES_CLIENT[method]
    for sig in (signature, signature.upper()):
        assert reader.parse(unsigned(encode(EXAMPLE | {"sig": sig}))) == [DELIVERED]


@pytest.mark.parametrize("status", ["accepted", "buffered", "unknown", "new-one"])
def test_a_message_on_its_way_gives_no_receipt(status: str) -> None:
    assert receipt_of(status=status) == []


@pytest.mark.parametrize("code", FAILURES)
@pytest.mark.parametrize("status", ["failed", "rejected", "expired"])
def test_each_documented_reason_of_a_loss_has_its_receipt(status: str, code: str) -> None:
    (receipt,) = receipt_of(**{"status": status, "err-code": code.removeprefix("dlr-")})
    assert receipt == Receipt(
        kind=ReceiptKind.BOUNCED if FAILURES[code] in BOUNCES else ReceiptKind.FAILED,
        delivery_id=DELIVERY,
        provider_message_id=MESSAGE_ID,
        code=code,
        contact_is_dead=FAILURES[code].is_dead,
        has_opted_out=FAILURES[code] is Verdict.OPTED_OUT,
    )


def test_an_unknown_reason_is_our_loss_and_an_operator_may_know_better() -> None:
    (receipt,) = receipt_of(**{"status": "failed", "err-code": "77"})
    assert (receipt.kind, receipt.code) == (ReceiptKind.FAILED, "dlr-77")
    reader = VonageReceipts(secret=SECRET, method=Method.SHA256, codes={"dlr-77": Verdict.DEAD})
    body = orjson.dumps(EXAMPLE | {"status": "failed", "err-code": "77"})
    (receipt,) = receipts_in(with_token(body), reader)
    assert (receipt.kind, receipt.contact_is_dead) == (ReceiptKind.BOUNCED, True)


def test_without_our_reference_the_messages_own_id_has_to_do() -> None:
    (receipt,) = receipt_of(**{"client-ref": ""})
    assert (receipt.delivery_id, receipt.provider_message_id) == (None, MESSAGE_ID)


def test_who_holds_no_secret_of_ours_is_not_believed() -> None:
    body = orjson.dumps(EXAMPLE)
    hashed = {"payload_hash": sha256(body).hexdigest()}
    signed = orjson.dumps(EXAMPLE | {"sig": SIGNED_BY_VONAGES_CLIENT[Method.SHA256]})
    forged = [
        unsigned(body),
        unsigned(b""),
        unsigned(b"\xff=\xff"),
        unsigned(signed.replace(b"delivered", b"rejected")),
        unsigned(orjson.dumps(EXAMPLE | {"sig": "ünfug"})),
        bearing("", body),
        bearing("a.b.c", body),
        bearing(token(hashed, secret="another-secret-that-is-long-enough"), body),
        bearing(token(hashed, algorithm="none"), body),
        bearing(token({}), body),
        with_token(body, payload_hash="ünfug"),
        with_token(body, payload_hash=1),
        with_token(body, exp=1582650446),
        bearing(token(hashed), body + b" "),
    ]
    for request in forged:
        with pytest.raises(InvalidSignature):
            READER.parse(request)


@pytest.mark.parametrize(
    "body",
    [
        b"",
        b"[]",
        b"{",
        orjson.dumps({"status": "delivered"}),
        orjson.dumps(EXAMPLE | {"status": ""}),
        orjson.dumps(EXAMPLE | {"client-ref": "campaign-7"}),
    ],
)
def test_a_signed_callback_that_is_no_receipt_is_malformed(body: bytes) -> None:
    with pytest.raises(MalformedReceipt):
        READER.parse(with_token(body))


def test_the_reader_hides_its_secret() -> None:
    assert SECRET not in repr(READER)


REPLY = {
    "msisdn": "4915112345678",
    "to": "447700900000",
    "messageId": "0B000000D7C1E4F9",
    "text": "Stop",
    "type": "text",
    "keyword": "STOP",
    "message-timestamp": "2026-03-29 12:00:00",
}


def test_a_text_from_a_person_is_read_with_a_plus_before_its_number() -> None:
    (text,) = READER.parse(with_token(orjson.dumps(REPLY)))
    assert text == InboundText(
        from_address="+4915112345678",
        to_address="447700900000",
        text="Stop",
        provider_message_id="0B000000D7C1E4F9",
    )


def test_an_unsigned_text_is_not_read() -> None:
    with pytest.raises(InvalidSignature):
        READER.parse(unsigned(orjson.dumps(REPLY)))
