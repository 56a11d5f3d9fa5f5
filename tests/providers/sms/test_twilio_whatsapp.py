"""WhatsApp through Twilio: the forms of the requests, and the texts of persons."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import closing
from dataclasses import replace

import orjson
import pytest

from providers import conformance
from providers.conformance import Subject
from providers.contract import (
    Accepted,
    Channel,
    InboundText,
    Keyword,
    Message,
    Provider,
    Receipt,
    ReceiptKind,
    Rejected,
)
from providers.sms.twilio import VENDOR
from providers.transport import Transport
from providers.verdicts import Verdict
from tests.providers.answering import CONTRACT, AnsweringFake, shape
from tests.providers.messages import message
from tests.providers.sms.test_twilio import ENVIRON
from tests.providers.sms.test_twilio_receipts import READER, callback, receipt_in, status
from tests.providers.sms.twilio_fake import MESSAGE_SID, NUMBER, TOKEN, form, refusal, twilio_fake
from tests.providers.trying import complaint, outcomes

TO = "whatsapp:+491511234567"
SENDER = "+14155238886"
SERVICE = "MG" + "0123456789abcdef" * 2


@pytest.fixture
def server() -> Iterator[AnsweringFake]:
    with closing(twilio_fake()) as it:
        yield it


def adapter(server: AnsweringFake, transport: Transport, sender: str = SENDER) -> Provider:
    changes = {"NOTIFY_TWILIO_URL": server.origin, "NOTIFY_TWILIO_WHATSAPP_FROM": sender}
    return VENDOR.configure(ENVIRON | changes, transport=transport)


@pytest.fixture
def provider(server: AnsweringFake, transport: Transport) -> Provider:
    return adapter(server, transport)


def chat(**changes: object) -> Message:
    return message(TO, Channel.CHAT, **changes)


@pytest.fixture
def subject(server: AnsweringFake, provider: Provider) -> Subject:
    return Subject(
        provider=provider, server=server, channel=Channel.CHAT, address=TO, secrets=[TOKEN]
    )


@pytest.mark.parametrize("check", conformance.CHECKS, ids=lambda check: check.__name__)
def test_the_adapter_keeps_the_contract(check: Callable[[Subject], None], subject: Subject) -> None:
    check(subject)


def test_a_text_goes_from_the_sender_on_whatsapp(server: AnsweringFake, provider: Provider) -> None:
    it = chat()
    assert outcomes(provider, it) == [Accepted(message_id=MESSAGE_SID)]
    assert form(server.requests[0]) == {
        "To": TO,
        "From": f"whatsapp:{SENDER}",
        "StatusCallback": f"https://notify.example.com/v1/receipts/twilio?delivery_id={it.delivery_id}",
        "Body": "Order ready\nYour order is ready.",
    }


def test_a_messaging_service_can_send(server: AnsweringFake, transport: Transport) -> None:
    outcomes(adapter(server, transport, SERVICE), chat())
    given = form(server.requests[0])
    assert (given["MessagingServiceSid"], "From" in given) == (SERVICE, False)


def test_a_template_gets_its_variables_by_number(server: AnsweringFake, provider: Provider) -> None:
    ids = {"twilio": "HX" + "0" * 32, "whatsapp": "order/en"}
    outcomes(provider, chat(template_ids=ids, template_parameters=("Ada", "4 5\n6")))
    outcomes(provider, chat(template_ids=ids))
    first, second = map(form, server.requests)
    assert (first["ContentSid"], "Body" in first) == (ids["twilio"], False)
    assert orjson.loads(first["ContentVariables"]) == {"1": "Ada", "2": "4 5 6"}
    assert "ContentVariables" not in second


def test_an_sms_is_as_before(server: AnsweringFake, provider: Provider) -> None:
    sms = message("+491511234567", Channel.SMS)
    assert outcomes(provider, sms) == [Accepted(message_id=MESSAGE_SID, segments=1)]
    given = form(server.requests[0])
    assert (given["From"], given["To"]) == (NUMBER, "+491511234567")
    assert "ValidityPeriod" in given


@pytest.mark.parametrize(
    ("changes", "code"),
    [
        ({"address": "slack://T/B/C"}, "unsupported_address"),
        ({"title": "", "body": ""}, "empty_message"),
        ({"template_ids": {"twilio": "HX1"}, "template_parameters": ("",)}, "empty_parameter"),
    ],
)
def test_an_incomplete_message_is_never_sent(
    server: AnsweringFake, provider: Provider, changes: dict[str, object], code: str
) -> None:
    (outcome,) = outcomes(provider, replace(chat(), **changes))  # type: ignore[arg-type] # its fields
    assert isinstance(outcome, Rejected)
    assert outcome.code == code
    assert server.requests == []


@pytest.mark.parametrize(
    ("code", "verdict"),
    [
        (63003, Verdict.DEAD),
        (63007, Verdict.MISCONFIGURED),
        (63016, Verdict.REJECTED_HERE),
        (63018, Verdict.THROTTLED),
        (63024, Verdict.DEAD),
    ],
)
def test_a_code_of_whatsapp_has_its_outcome(
    server: AnsweringFake, provider: Provider, code: int, verdict: Verdict
) -> None:
    server.answer = refusal(400, code)
    (outcome,) = outcomes(provider, chat())
    assert shape(outcome) == CONTRACT[verdict]
    assert ("needs an approved template" in repr(outcome)) == (code == 63016)


def test_without_a_sender_there_is_no_whatsapp(server: AnsweringFake, transport: Transport) -> None:
    plain = VENDOR.configure(ENVIRON | {"NOTIFY_TWILIO_URL": server.origin}, transport=transport)
    assert plain.capabilities.channels == {Channel.SMS}
    with_sender = adapter(server, transport)
    assert with_sender.capabilities.channels == {Channel.SMS, Channel.CHAT}


@pytest.mark.parametrize("sender", ["whatsapp:+14155238886", "14155238886", "Shop", "MG1"])
def test_a_start_names_a_malformed_sender(sender: str) -> None:
    wrong = ENVIRON | {"NOTIFY_TWILIO_WHATSAPP_FROM": sender}
    assert complaint(VENDOR, wrong).startswith("NOTIFY_TWILIO_WHATSAPP_FROM: ")


def test_a_status_of_whatsapp_is_a_receipt() -> None:
    told = status("undelivered", code="63024") | {"To": TO, "From": f"whatsapp:{SENDER}"}
    receipt: Receipt = receipt_in(callback(told))
    assert (receipt.kind, receipt.contact_is_dead) == (ReceiptKind.BOUNCED, True)


def test_a_text_on_whatsapp_is_of_the_channel_chat() -> None:
    fields = {"SmsStatus": "received", "From": TO, "To": f"whatsapp:{SENDER}", "Body": "Enough"}
    told = fields | {"MessageSid": "SM1", "OptOutType": "STOP"}
    assert READER.parse(callback(told)) == [
        InboundText(
            from_address=TO,
            to_address=f"whatsapp:{SENDER}",
            text="Enough",
            provider_message_id="SM1",
            keyword=Keyword.STOP,
            channel=Channel.CHAT,
        )
    ]
