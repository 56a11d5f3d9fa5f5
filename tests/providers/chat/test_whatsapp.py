"""Requests that Meta gets, and the outcomes of its answers; the adapter keeps the contract."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import closing
from dataclasses import replace

import pytest

from providers import conformance, verdicts
from providers.chat.whatsapp import BODY_LIMIT_CHARACTERS, VENDOR
from providers.chat.whatsapp_codes import TABLE
from providers.conformance import Act, Subject
from providers.contract import Accepted, Channel, Message, Provider, Rejected, Unanswered
from providers.sandbox_server.wire import ServerAnswer
from providers.transport import Transport
from tests.providers.answering import BY_STATUS, CONTRACT, AnsweringFake, shape
from tests.providers.chat.whatsapp_fake import (
    APP_SECRET,
    ENVIRON,
    MESSAGE_ID,
    NUMBER_ID,
    TOKEN,
    VERIFY_TOKEN,
    error,
    sent,
    whatsapp_fake,
)
from tests.providers.messages import message
from tests.providers.trying import PATIENCE, complaint, outcomes

TO = "whatsapp:+491511234567"
TEMPLATE = {"whatsapp": "order_shipped/en_US", "twilio": "HX1"}


@pytest.fixture
def server() -> Iterator[AnsweringFake]:
    with closing(whatsapp_fake()) as it:
        yield it


def adapter(server: AnsweringFake, transport: Transport, codes: str = "") -> Provider:
    environ = ENVIRON | {"NOTIFY_WHATSAPP_URL": server.origin, "NOTIFY_WHATSAPP_CODES": codes}
    return VENDOR.configure(environ, transport=transport)


@pytest.fixture
def provider(server: AnsweringFake, transport: Transport) -> Provider:
    return adapter(server, transport)


def chat(**changes: object) -> Message:
    return message(TO, Channel.CHAT, **changes)


@pytest.fixture
def subject(server: AnsweringFake, provider: Provider) -> Subject:
    return Subject(
        provider=provider,
        server=server,
        channel=Channel.CHAT,
        address=TO,
        secrets=[TOKEN, APP_SECRET, VERIFY_TOKEN, "491511234567"],
    )


@pytest.mark.parametrize("check", conformance.CHECKS, ids=lambda check: check.__name__)
def test_the_adapter_keeps_the_contract(check: Callable[[Subject], None], subject: Subject) -> None:
    check(subject)


def test_a_text_is_what_meta_documents(server: AnsweringFake, provider: Provider) -> None:
    it = chat()
    assert outcomes(provider, it) == [Accepted(message_id=MESSAGE_ID)]
    (request,) = server.requests
    assert (request.method, request.target) == ("POST", f"/{NUMBER_ID}/messages")
    assert request.headers["authorization"] == f"Bearer {TOKEN}"
    assert sent(request) == {
        "messaging_product": "whatsapp",
        "recipient_type": "individual",
        "to": "491511234567",
        "biz_opaque_callback_data": str(it.delivery_id),
        "type": "text",
        "text": {"body": "Order ready\nYour order is ready."},
    }


def test_a_template_gets_its_parameters_in_order(server: AnsweringFake, provider: Provider) -> None:
    values = ("Ada", " two\nlines\tand     gaps ")
    outcomes(provider, chat(template_ids=TEMPLATE, template_parameters=values))
    body = sent(server.requests[0])
    assert (body["type"], "text" in body) == ("template", False)
    assert body["template"] == {
        "name": "order_shipped",
        "language": {"code": "en_US"},
        "components": [
            {
                "type": "body",
                "parameters": [
                    {"type": "text", "text": "Ada"},
                    {"type": "text", "text": "two lines and gaps"},
                ],
            }
        ],
    }


def test_a_template_without_placeholders_has_no_components(
    server: AnsweringFake, provider: Provider
) -> None:
    outcomes(provider, chat(template_ids=TEMPLATE))
    assert "components" not in sent(server.requests[0])["template"]


def test_the_template_of_another_provider_is_not_sent(
    server: AnsweringFake, provider: Provider
) -> None:
    outcomes(provider, chat(template_ids={"twilio": "HX1"}, template_parameters=("Ada",)))
    assert sent(server.requests[0])["type"] == "text"


@pytest.mark.parametrize(
    ("changes", "code"),
    [
        ({"address": "slack://T/B/C"}, "unsupported_address"),
        ({"title": "", "body": " "}, "empty_message"),
        ({"template_ids": {"whatsapp": "order_shipped"}}, "malformed_template"),
        ({"template_ids": {"whatsapp": "/en"}}, "malformed_template"),
        ({"template_ids": TEMPLATE, "template_parameters": ("a", " ")}, "empty_parameter"),
    ],
)
def test_an_incomplete_message_is_never_sent(
    server: AnsweringFake, provider: Provider, changes: dict[str, object], code: str
) -> None:
    (outcome,) = outcomes(provider, replace(chat(), **changes))  # type: ignore[arg-type] # its fields
    assert isinstance(outcome, Rejected)
    assert (outcome.code, outcome.contact_is_dead) == (code, False)
    assert server.requests == []


def test_a_long_text_loses_its_end(server: AnsweringFake, provider: Provider) -> None:
    outcomes(provider, chat(title="", body="é" * 5_000))
    text = sent(server.requests[0])["text"]["body"]
    assert len(text) == BODY_LIMIT_CHARACTERS
    assert text.endswith("…")


@pytest.mark.parametrize("code", TABLE)
def test_each_code_has_its_outcome(server: AnsweringFake, provider: Provider, code: str) -> None:
    server.answer = error(400, int(code), f"not to {TO}, 491511234567")
    (outcome,) = outcomes(provider, chat())
    assert shape(outcome) == CONTRACT[TABLE[code]]
    assert "491511234567" not in repr(outcome)


@pytest.mark.parametrize("code", TABLE)
def test_an_operator_may_change_what_a_code_means(
    server: AnsweringFake, transport: Transport, code: str
) -> None:
    server.answer = error(400, int(code))
    (outcome,) = outcomes(adapter(server, transport, f"{code}=unanswered"), chat())
    assert isinstance(outcome, Unanswered)


@pytest.mark.parametrize("status", BY_STATUS)
@pytest.mark.parametrize("body", [b"<html>", b"[]", b'{"error": 5}', b'{"error": {"code": "x"}}'])
def test_the_status_decides_without_a_code(
    server: AnsweringFake, provider: Provider, status: int, body: bytes
) -> None:
    server.answer = ServerAnswer(status=status, body=body)
    (outcome,) = outcomes(provider, chat())
    assert shape(outcome) == CONTRACT[BY_STATUS[status]]


def test_an_unknown_code_is_named(server: AnsweringFake, provider: Provider) -> None:
    server.answer = error(400, 999)
    (outcome,) = outcomes(provider, chat())
    assert isinstance(outcome, Rejected)
    assert outcome.code == "999"
    assert verdicts.look_up("999", TABLE, {}) is None


@pytest.mark.parametrize("body", [b"", b"[]", b"{}", b'{"messages": []}'])
def test_a_success_without_an_id_is_accepted(
    server: AnsweringFake, provider: Provider, body: bytes
) -> None:
    server.answer = ServerAnswer(status=200, body=body)
    assert outcomes(provider, chat()) == [Accepted()]


def test_a_check_sends_nothing(server: AnsweringFake, provider: Provider) -> None:
    good = list(provider.check(deadline=PATIENCE))
    server.act(Act.BAD_CREDENTIALS)
    (bad,) = provider.check(deadline=PATIENCE)
    server.stop()
    (away,) = provider.check(deadline=PATIENCE)
    assert [(each.is_good, each.detail) for each in good] == [
        (True, "Meta knows the business number"),
        (True, "GREEN"),
    ]
    assert (bad.is_good, bad.detail) == (False, "HTTP 401, code 190")
    assert not away.is_good
    assert {request.method for request in server.requests} == {"GET"}


@pytest.mark.parametrize("setting", ENVIRON)
def test_a_start_names_a_missing_setting(setting: str) -> None:
    rest = {name: value for name, value in ENVIRON.items() if name != setting}
    assert complaint(VENDOR, rest).startswith(f"{setting}: ")


def test_a_start_names_a_telephone_number_in_place_of_the_id() -> None:
    wrong = ENVIRON | {"NOTIFY_WHATSAPP_PHONE_NUMBER_ID": "+15550783881"}
    assert "phone number ID" in complaint(VENDOR, wrong)
