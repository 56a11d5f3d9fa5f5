"""Twilio's status callbacks: the check of the sender, and the receipts read from them."""

from __future__ import annotations

import hmac
from base64 import b64encode
from collections.abc import Mapping
from urllib.parse import urlencode
from uuid import UUID

import pytest

from providers.contract import InboundText, Keyword, Receipt, ReceiptKind, ReceiptRequest
from providers.errors import InvalidSignature, MalformedReceipt
from providers.sms.twilio_codes import FAILURES, REFUSALS
from providers.sms.twilio_receipts import TwilioReceipts
from providers.verdicts import Verdict
from tests.providers.sms.twilio_fake import ACCOUNT, MESSAGE_SID, TOKEN

DELIVERY = UUID(int=7)
URL = f"https://notify.example.com/v1/receipts/twilio?delivery_id={DELIVERY}"
SHARED = {"webhooks_sharedkey_1": "shared-secret="}
READER = TwilioReceipts(auth_token=TOKEN, shared_keys=SHARED, codes={})
REASONS: dict[str, Verdict] = dict(REFUSALS) | dict(FAILURES)
BOUNCES = {verdict for verdict in Verdict if verdict.is_rejection}


def status(name: str, *, code: str = "") -> dict[str, str]:
    fields = {
        "AccountSid": ACCOUNT,
        "ApiVersion": "2010-04-01",
        "From": "+15005550006",
        "MessageSid": MESSAGE_SID,
        "MessageStatus": name,
        "SmsSid": MESSAGE_SID,
        "SmsStatus": name,
        "To": "+491511234567",
    }
    return fields | ({"ErrorCode": code} if code else {})


def signature(url: str, form: Mapping[str, str], *, secret: str = TOKEN, by: str = "sha1") -> str:
    """As Twilio's documents say: the URL, then each field's name and value, sorted by name."""
    signed = url + "".join(name + form[name] for name in sorted(form))
    return b64encode(hmac.digest(secret.encode(), signed.encode(), by)).decode()


def callback(form: Mapping[str, str], *, url: str = URL, **headers: str) -> ReceiptRequest:
    named = {name.replace("_", "-"): value for name, value in headers.items()}
    return ReceiptRequest(
        url=url,
        headers={"x-twilio-signature": signature(url, form)} | named,
        body=urlencode(form).encode(),
    )


def receipt_in(request: ReceiptRequest, reader: TwilioReceipts = READER) -> Receipt:
    (receipt,) = reader.parse(request)
    assert isinstance(receipt, Receipt)
    return receipt


def test_the_signature_is_the_one_of_twilios_example() -> None:
    form = {"CallSid": "CA1", "To": "+1"}
    assert signature("https://example.com/myapp", form) == "9m6MEOVVH0mlyLPcFOnnlHKKhcA="


@pytest.mark.parametrize(
    ("name", "kind"), [("delivered", ReceiptKind.DELIVERED), ("read", ReceiptKind.READ)]
)
def test_an_arrival_names_the_delivery_that_its_address_was_made_for(
    name: str, kind: ReceiptKind
) -> None:
    receipt = Receipt(kind=kind, delivery_id=DELIVERY, provider_message_id=MESSAGE_SID)
    request = callback(status(name))
    assert READER.parse(request) == [receipt]
    assert READER.parse(request) == [receipt], "a replay says the same again"


@pytest.mark.parametrize("name", ["accepted", "queued", "scheduled", "sending", "sent", "new-one"])
def test_a_message_on_its_way_gives_no_receipt(name: str) -> None:
    assert READER.parse(callback(status(name))) == []


@pytest.mark.parametrize("code", REASONS)
@pytest.mark.parametrize("name", ["undelivered", "failed"])
def test_each_documented_reason_of_a_loss_has_its_receipt(name: str, code: str) -> None:
    receipt = receipt_in(callback(status(name, code=code)))
    verdict = REASONS[code]
    assert receipt == Receipt(
        kind=ReceiptKind.BOUNCED if verdict in BOUNCES else ReceiptKind.FAILED,
        delivery_id=DELIVERY,
        provider_message_id=MESSAGE_SID,
        code=code,
        detail=receipt.detail,
        contact_is_dead=verdict.is_dead,
        has_opted_out=verdict is Verdict.OPTED_OUT,
    )
    assert receipt.detail.startswith("needs an approved template") == (code == "63016")


@pytest.mark.parametrize(("name", "code"), [("failed", "39999"), ("canceled", "")])
def test_an_unknown_reason_is_our_loss_and_not_the_handsets(name: str, code: str) -> None:
    receipt = receipt_in(callback(status(name, code=code)))
    assert (receipt.kind, receipt.code) == (ReceiptKind.FAILED, code or name)
    assert not receipt.contact_is_dead


def test_an_operator_overrules_a_reason() -> None:
    reader = TwilioReceipts(auth_token=TOKEN, shared_keys={}, codes={"30003": Verdict.DEAD})
    receipt = receipt_in(callback(status("undelivered", code="30003")), reader)
    assert (receipt.kind, receipt.contact_is_dead) == (ReceiptKind.BOUNCED, True)


def test_without_a_delivery_id_the_messages_own_has_to_do() -> None:
    url = "https://notify.example.com/v1/receipts/twilio"
    receipt = receipt_in(callback(status("delivered"), url=url))
    assert (receipt.delivery_id, receipt.provider_message_id) == (None, MESSAGE_SID)


def test_a_shared_key_signs_with_sha256() -> None:
    form = status("delivered")
    key, secret = next(iter(SHARED.items()))
    given = {
        "x_twilio_signature": signature(URL, form, secret=secret, by="sha256"),
        "x_twilio_webhooks_signature_settings": f"key={key},algorithm=HMAC_SHA256",
    }
    assert len(READER.parse(callback(form, **given))) == 1
    with pytest.raises(InvalidSignature):
        TwilioReceipts(auth_token=TOKEN, shared_keys={}, codes={}).parse(callback(form, **given))


def test_who_holds_no_secret_of_ours_is_not_believed() -> None:
    form = status("failed", code="30005")
    good = callback(form)
    forged = [
        callback(form, x_twilio_signature=""),
        callback(form, x_twilio_signature="ünfug"),
        callback(form, x_twilio_signature=signature(URL, form, secret="other")),
        callback(form, x_twilio_webhooks_signature_settings="key=unknown,algorithm=HMAC_SHA256"),
        callback(form, x_twilio_webhooks_signature_settings="algorithm=none"),
        ReceiptRequest(url=good.url + "0", headers=good.headers, body=good.body),
        ReceiptRequest(url=good.url, headers=good.headers, body=good.body + b"&To=1"),
        ReceiptRequest(url=good.url, headers=good.headers, body=b"\xff"),
    ]
    for request in forged:
        with pytest.raises(InvalidSignature):
            READER.parse(request)


@pytest.mark.parametrize(
    ("form", "url"),
    [
        ({"CallSid": "CA1"}, URL),
        (status("delivered"), URL + "-and-more"),
        (status("") | {"MessageStatus": ""}, URL),
    ],
)
def test_a_signed_callback_that_is_no_status_of_a_message_is_malformed(
    form: dict[str, str], url: str
) -> None:
    with pytest.raises(MalformedReceipt):
        READER.parse(callback(form, url=url))


def test_the_reader_hides_its_secrets() -> None:
    assert TOKEN not in repr(READER)
    assert "shared-secret" not in repr(READER)


REPLY = {
    "AccountSid": ACCOUNT,
    "Body": "STOP",
    "From": "+491511234567",
    "MessageSid": MESSAGE_SID,
    "NumMedia": "0",
    "OptOutType": "STOP",
    "SmsMessageSid": MESSAGE_SID,
    "SmsStatus": "received",
    "To": "+15005550006",
}


def test_a_text_from_a_person_is_read() -> None:
    (text,) = READER.parse(callback(REPLY, url="https://notify.example.com/v1/receipts/twilio"))
    assert text == InboundText(
        from_address="+491511234567",
        to_address="+15005550006",
        text="STOP",
        provider_message_id=MESSAGE_SID,
        keyword=Keyword.STOP,
    )


def test_a_text_without_twilios_reading_has_no_keyword() -> None:
    for more in ({"OptOutType": ""}, {"OptOutType": "LATER"}):
        (text,) = READER.parse(callback(REPLY | more))
        assert isinstance(text, InboundText)
        assert text.keyword is None


def test_a_text_whose_words_were_changed_is_not_read() -> None:
    forged = callback(REPLY | {"Body": "START"})
    with pytest.raises(InvalidSignature):
        READER.parse(ReceiptRequest(url=URL, headers=forged.headers, body=callback(REPLY).body))


def test_a_text_from_nobody_is_malformed() -> None:
    with pytest.raises(MalformedReceipt):
        READER.parse(callback(REPLY | {"From": ""}))
