"""Signed callbacks of every provider, through the URL table: own rows change, no others do."""

from __future__ import annotations

import hmac
import os
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from typing import Any, Final
from urllib.parse import urlencode
from uuid import UUID, uuid4

import orjson
import pytest
from django.test import Client

from notifications.core import clock, conf
from notifications.core.delivery import routing
from notifications.core.models import Delivery, Event
from notifications.core.rules import ids, in_app
from notifications.core.rules.lane import Mode
from notifications.core.rules.states import Status
from providers import standard_webhooks
from tests.api.callback_classes import configured
from tests.providers.aws.signed_posts import Signer
from tests.providers.chat import whatsapp_fake as whatsapp
from tests.providers.email.ses import test_settings as ses
from tests.providers.sms import test_aws_eum as aws_eum
from tests.providers.sms import test_twilio as twilio
from tests.providers.sms import test_twilio_receipts as twilio_receipts
from tests.providers.sms import test_vonage as vonage
from tests.providers.sms import test_vonage_receipts as vonage_receipts
from tests.store.stored_rows import MakeDelivery, make_delivery

__all__ = ["make_delivery"]

_SNS: Final = Signer()
_JSON: Final = "application/json"
_AT: Final = "2026-03-29T12:00:00.250Z"
_POSTMARK: Final = {
    "NOTIFY_ANYMAIL_ESP": "postmark",
    "NOTIFY_ANYMAIL_OPTIONS": '{"server_token": "token"}',
    "NOTIFY_ANYMAIL_FROM": "no-reply@shop.example",
    "NOTIFY_ANYMAIL_WEBHOOK_SECRET": "hook:password",
}
_GATEWAY_SECRET: Final = "a-secret-of-the-callbacks"
_GATEWAYS: Final = {
    "NOTIFY_SINCH_SERVICE_PLAN_ID": "plan",
    "NOTIFY_SINCH_API_TOKEN": "token",
    "NOTIFY_SINCH_FROM": "12345",
    "NOTIFY_SINCH_CALLBACK_SECRET": _GATEWAY_SECRET,
    "NOTIFY_MESSAGEBIRD_ACCESS_KEY": "key",
    "NOTIFY_MESSAGEBIRD_FROM": "Shop",
    "NOTIFY_MESSAGEBIRD_CALLBACK_SECRET": _GATEWAY_SECRET,
}
_RATE: Final = {"NOTIFY_SES_PER_SECOND": "14"}
"""A given rate: SES is not asked for the rate."""
_SETTINGS: Final[Mapping[str, str]] = (
    _POSTMARK
    | _RATE
    | _GATEWAYS
    | ses.SETTINGS
    | aws_eum.ENVIRON
    | twilio.ENVIRON
    | vonage.ENVIRON
    | whatsapp.ENVIRON
)


@dataclass(frozen=True, slots=True, kw_only=True)
class SignedCall:
    """A callback as a provider sends it."""

    body: bytes
    headers: Mapping[str, str]
    media_type: str = _JSON
    query: str = ""


def _sandbox(delivery_id: UUID) -> SignedCall:
    line = {"kind": "delivered", "delivery_id": str(delivery_id), "message_id": "sbx-1"}
    body = orjson.dumps({"receipts": [line | {"occurred_at": _AT}]})
    secret = standard_webhooks.Secret.parse(os.environ["NOTIFY_SANDBOX_SECRET"])
    now = clock.now()
    headers = standard_webhooks.sign(body, message_id="msg_1", at=now, secrets=[secret])
    return SignedCall(body=body, headers=headers)


def _postmark(delivery_id: UUID) -> SignedCall:
    event = {"RecordType": "Delivery", "Metadata": {"delivery_id": str(delivery_id)}}
    login = "Basic aG9vazpwYXNzd29yZA=="  # hook:password
    body = orjson.dumps(event | {"DeliveredAt": _AT})
    return SignedCall(body=body, headers={"Authorization": login})


def _twilio(delivery_id: UUID) -> SignedCall:
    query = f"?delivery_id={delivery_id}"
    form = twilio_receipts.status("delivered")
    url = f"{conf.current().public_url}/v1/receipts/twilio{query}"
    return SignedCall(
        body=urlencode(form).encode(),
        headers={"X-Twilio-Signature": twilio_receipts.signature(url, form)},
        media_type="application/x-www-form-urlencoded",
        query=query,
    )


def _vonage(delivery_id: UUID) -> SignedCall:
    body = orjson.dumps(vonage_receipts.EXAMPLE | {"client-ref": str(delivery_id)})
    return SignedCall(body=body, headers=dict(vonage_receipts.with_token(body).headers))


def _whatsapp(delivery_id: UUID) -> SignedCall:
    told = whatsapp.change(statuses=[whatsapp.status("delivered", delivery_id=delivery_id)])
    body = orjson.dumps(told)
    return SignedCall(body=body, headers={"X-Hub-Signature-256": whatsapp.signature(body)})


def _sinch(delivery_id: UUID) -> SignedCall:
    named = str(delivery_id)
    token = hmac.digest(_GATEWAY_SECRET.encode(), named.encode(), "sha256").hex()
    body = orjson.dumps({"batch_id": "1", "client_reference": named, "status": "Delivered"})
    return SignedCall(body=body, headers={}, query=f"?delivery_id={named}&token={token}")


def _ses(delivery_id: UUID) -> SignedCall:
    mail = {"timestamp": _AT, "messageId": "1", "tags": {"delivery_id": [str(delivery_id)]}}
    event = {"eventType": "Delivery", "mail": mail, "delivery": {"timestamp": _AT}}
    return _posted(event)


def _aws_eum(delivery_id: UUID) -> SignedCall:
    context = {"delivery_id": str(delivery_id)}
    return _posted(orjson.loads(aws_eum.event("TEXT_DELIVERED", context=context)))


def _posted(event: dict[str, Any]) -> SignedCall:
    body = orjson.dumps(_SNS.post(orjson.dumps(event).decode()))
    headers = {"X-Amz-Sns-Message-Type": "Notification"}
    return SignedCall(body=body, headers=headers, media_type="text/plain")


_CALLS: Final[Mapping[str, Callable[[UUID], SignedCall]]] = {
    "anymail": _postmark,
    "aws_eum": _aws_eum,
    "sandbox": _sandbox,
    "ses": _ses,
    "sinch": _sinch,
    "twilio": _twilio,
    "vonage": _vonage,
    "whatsapp": _whatsapp,
}
of_every_provider = pytest.mark.parametrize("provider", _CALLS)


@pytest.fixture(autouse=True)
def _every_provider(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    with configured(monkeypatch, _SETTINGS, signer=_SNS):
        yield


def _send(provider: str, call: SignedCall) -> tuple[int, Any]:
    answer = Client().post(
        f"/v1/receipts/{provider}{call.query}",
        call.body,
        content_type=call.media_type,
        headers=dict(call.headers),
    )
    return answer.status_code, answer.json()


def _status(delivery_id: UUID) -> Status:
    return Status(Delivery.objects.get(pk=delivery_id).status)


def test_each_provider_that_sends_receipts_is_here() -> None:
    built = routing.providers_by_name()
    calling = {name for name, each in built.items() if each.capabilities.gives_receipts}
    by_get = {name for name, each in built.items() if each.capabilities.receipts_by_get}
    assert by_get == {"messagebird"}
    assert calling - by_get - {in_app.PROVIDER} == set(_CALLS)  # the inbox reports without a call


@of_every_provider
def test_a_signed_callback_changes_its_row_once(make_delivery: MakeDelivery, provider: str) -> None:
    delivery_id = make_delivery(Status.SENT, provider=provider, attempts=1)
    call = _CALLS[provider](delivery_id)
    assert _send(provider, call) == (200, {"receipts": 1, "matched": 1})
    assert _send(provider, _CALLS[provider](delivery_id)) == (200, {"receipts": 1, "matched": 0})
    assert _status(delivery_id) is Status.DELIVERED
    events = Event.objects.filter(notification_id=ids.notification_of(delivery_id))
    [told] = events.filter(reason="receipt_delivered")
    # Twilio and Vonage give no time with a zone; the time of a described gateway is not read.
    assert (told.occurred_at is None) is (provider in {"twilio", "vonage", "sinch"})


@of_every_provider
@pytest.mark.parametrize("mode", list(Mode), ids=lambda mode: mode.label)
def test_a_signed_callback_about_another_providers_row_changes_nothing(
    make_delivery: MakeDelivery, provider: str, mode: Mode
) -> None:
    other = "twilio" if provider == "sandbox" else "sandbox"
    delivery_id = make_delivery(Status.SENT, provider=other, attempts=1, mode=mode)
    call = _CALLS[provider](delivery_id)
    assert _send(provider, call) == (200, {"receipts": 1, "matched": 0})
    assert _status(delivery_id) is Status.SENT


@of_every_provider
def test_a_forged_callback_is_refused_and_changes_nothing(
    make_delivery: MakeDelivery, provider: str
) -> None:
    delivery_id, another = (
        make_delivery(Status.SENT, provider=provider, attempts=1) for _ in range(2)
    )
    true, wrong = _CALLS[provider](another), _CALLS[provider](delivery_id)
    if provider == "sinch":  # proven by the address, not by the body
        query = true.query.replace(str(another), str(delivery_id))
        forged = SignedCall(body=wrong.body, headers={}, query=query)
    elif provider == "anymail":  # signed by a password, not by the body
        forged = SignedCall(body=wrong.body, headers={"Authorization": "Basic aG9vazpndWVzcw=="})
    else:
        body = wrong.body
        if provider in {"ses", "aws_eum"}:  # the signature of one post in another
            signature = orjson.loads(true.body)["Signature"]
            body = orjson.dumps(orjson.loads(wrong.body) | {"Signature": signature})
        forged = SignedCall(
            body=body, headers=true.headers, media_type=wrong.media_type, query=wrong.query
        )
    status, _ = _send(provider, forged)
    assert status == 401
    assert _status(delivery_id) is Status.SENT


@of_every_provider
def test_a_signed_callback_about_an_unknown_message_is_only_counted(provider: str) -> None:
    for unknown in (uuid4(), UUID(int=2**128 - 1), UUID(int=0)):
        assert _send(provider, _CALLS[provider](unknown)) == (200, {"receipts": 1, "matched": 0})


def test_half_a_character_in_a_receipt_costs_no_receipt(make_delivery: MakeDelivery) -> None:
    delivery_id = make_delivery(Status.SENT, provider="anymail", attempts=1)
    call = _postmark(delivery_id)
    body = b'{"MessageID": "m\\ud800\\u0000",' + call.body[1:]
    assert _send("anymail", SignedCall(body=body, headers=call.headers)) == (
        200,
        {"receipts": 1, "matched": 1},
    )


@pytest.mark.parametrize("token", [_GATEWAY_SECRET, "a-guess"])
def test_a_vendor_reports_by_get(make_delivery: MakeDelivery, token: str) -> None:
    delivery_id = make_delivery(Status.SENT, provider="messagebird", attempts=1)
    query = {"id": "e8", "reference": str(delivery_id), "status": "delivered", "token": token}
    Client().head("/v1/receipts/messagebird", query)
    assert _status(delivery_id) is Status.SENT  # a HEAD changes nothing
    answer = Client().get("/v1/receipts/messagebird", query)
    is_proven = token == _GATEWAY_SECRET
    assert answer.status_code == (200 if is_proven else 401)
    assert _status(delivery_id) is (Status.DELIVERED if is_proven else Status.SENT)
    assert Client().get("/v1/receipts/messagebird", query | {"status": ""}).status_code in {
        400,
        401,
    }


def test_a_vendor_verifies_the_url_of_its_callbacks() -> None:
    query = {"hub.mode": "subscribe", "hub.challenge": "<b>7", "hub.verify_token": "verify-token"}
    answer = Client().get("/v1/receipts/whatsapp", query)
    assert (answer.status_code, answer.content) == (200, b"<b>7")
    assert answer.headers["Content-Type"] == "text/plain"
    wrong = Client().get("/v1/receipts/whatsapp", query | {"hub.verify_token": "guess"})
    assert wrong.status_code == 401
    for provider in ("twilio", "nobody"):
        assert Client().get(f"/v1/receipts/{provider}", query).status_code == 404
