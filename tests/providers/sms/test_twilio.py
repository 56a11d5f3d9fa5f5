"""The requests to Twilio, and the outcomes of its answers."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import closing
from dataclasses import replace
from datetime import timedelta

import orjson
import pytest
from twilio.base.exceptions import TwilioRestException
from twilio.http.http_client import TwilioHttpClient
from twilio.rest import Client

from providers.conformance import Act
from providers.contract import (
    Accepted,
    Channel,
    Finding,
    Message,
    Outcome,
    Pace,
    Provider,
    Rejected,
)
from providers.sandbox_server.wire import ServerAnswer
from providers.sms.twilio import VENDOR
from providers.sms.twilio_codes import REFUSALS
from providers.transport import Transport
from providers.verdicts import Verdict
from tests.providers.answering import BY_STATUS, CONTRACT, AnsweringFake, shape
from tests.providers.messages import message
from tests.providers.sms.twilio_fake import (
    ACCOUNT,
    MESSAGE_SID,
    NUMBER,
    TOKEN,
    form,
    refusal,
    twilio_fake,
)
from tests.providers.trying import PATIENCE, complaint, outcomes

TO = "+491511234567"
SERVICE = "MG" + "0" * 32
ENVIRON = {
    "NOTIFY_TWILIO_ACCOUNT_SID": ACCOUNT,
    "NOTIFY_TWILIO_AUTH_TOKEN": TOKEN,
    "NOTIFY_TWILIO_FROM": NUMBER,
    "NOTIFY_PUBLIC_URL": "https://notify.example.com/",
}


@pytest.fixture
def server() -> Iterator[AnsweringFake]:
    with closing(twilio_fake()) as it:
        yield it


def adapter(server: AnsweringFake, transport: Transport, **settings: str) -> Provider:
    changes = {f"NOTIFY_TWILIO_{name}": value for name, value in settings.items()}
    environ = ENVIRON | {"NOTIFY_TWILIO_URL": server.origin} | changes
    return VENDOR.configure(environ, transport=transport)


def send(provider: Provider, *batch: Message) -> list[Outcome]:
    return outcomes(provider, *(batch or [sms()]))


def sms(body: str = "Dein Code: 123456 €&=+") -> Message:
    return message(TO, Channel.SMS, body=body)


def their_client(server: AnsweringFake, *user: str) -> Client:
    client = Client(*user, http_client=TwilioHttpClient(timeout=30))
    client.api.base_url = server.origin
    return client


@pytest.mark.parametrize("sender", [NUMBER, SERVICE])
def test_the_request_is_byte_for_byte_what_twilios_own_client_sends(
    server: AnsweringFake, transport: Transport, sender: str
) -> None:
    ours = sms()
    assert send(adapter(server, transport, FROM=sender), ours) == [
        Accepted(message_id=MESSAGE_SID, segments=1)
    ]
    client = their_client(server, ACCOUNT, TOKEN)
    as_sender = "messaging_service_sid" if sender == SERVICE else "from_"
    created = client.messages.create(
        to=TO,
        body=ours.body,
        status_callback="https://notify.example.com/v1/receipts/twilio"
        f"?delivery_id={ours.delivery_id}",
        validity_period=36000,
        **{as_sender: sender},
    )
    client.http_client.session.close()
    assert created.sid == MESSAGE_SID
    first, second = server.requests
    assert (first.method, first.target, first.body) == (second.method, second.target, second.body)
    for header in ("content-type", "accept", "authorization"):
        assert first.headers[header] == second.headers[header]


def test_twilios_own_client_understands_the_fakes_refusals(server: AnsweringFake) -> None:
    server.act(Act.REJECT)
    client = their_client(server, ACCOUNT, TOKEN)
    with pytest.raises(TwilioRestException) as refused:
        client.messages.create(to=TO, from_=NUMBER, body="x", status_callback="https://a.example")
    client.http_client.session.close()
    assert (refused.value.status, refused.value.code) == (400, 21211)


def test_an_api_key_signs_in_instead_of_the_token(
    server: AnsweringFake, transport: Transport
) -> None:
    key = "SK" + "a" * 32
    send(adapter(server, transport, API_KEY=f"{key}:secret"))
    client = their_client(server, key, "secret", ACCOUNT)
    client.messages.create(to=TO, from_=NUMBER, body="x", status_callback="https://a.example")
    client.http_client.session.close()
    ours, theirs = server.requests
    assert ours.headers["authorization"] == theirs.headers["authorization"]
    assert ours.target == theirs.target


@pytest.mark.parametrize(
    ("left", "seconds"),
    [(timedelta(milliseconds=1), "1"), (timedelta(minutes=5), "300"), (timedelta(days=2), "36000")],
)
def test_what_is_left_of_the_ttl_bounds_the_stay_in_twilios_queue(
    server: AnsweringFake, transport: Transport, left: timedelta, seconds: str
) -> None:
    send(adapter(server, transport), replace(sms(), time_to_live=left))
    (request,) = server.requests
    assert form(request)["ValidityPeriod"] == seconds


@pytest.mark.parametrize("sender", ["MGM Hotels", "MG", "MG" + "g" * 32])
def test_a_sender_id_that_begins_like_a_service_is_still_a_sender_id(
    server: AnsweringFake, transport: Transport, sender: str
) -> None:
    send(adapter(server, transport, FROM=sender))
    (request,) = server.requests
    assert form(request)["From"] == sender
    assert "MessagingServiceSid" not in form(request)


@pytest.mark.parametrize("code", REFUSALS)
def test_each_documented_code_has_its_outcome(
    server: AnsweringFake, transport: Transport, code: str
) -> None:
    server.answer = refusal(429 if REFUSALS[code] is Verdict.THROTTLED else 400, int(code))
    (outcome,) = send(adapter(server, transport))
    assert shape(outcome) == CONTRACT[REFUSALS[code]]
    assert getattr(outcome, "code", None) == code
    goes_on = REFUSALS[code] in {
        Verdict.REJECTED_HERE,
        Verdict.TEMPLATE_REFUSED,
        Verdict.IN_SANDBOX,
    }
    assert getattr(outcome, "another_provider_may_accept", False) is goes_on


@pytest.mark.parametrize(("status", "verdict"), {**BY_STATUS, 500: Verdict.UNANSWERED}.items())
@pytest.mark.parametrize("body", [b"<html>", b"[]", b'{"code": 99999}'])
def test_an_answer_without_a_known_code_is_judged_by_its_status(
    server: AnsweringFake, transport: Transport, status: int, verdict: Verdict, body: bytes
) -> None:
    server.answer = ServerAnswer(status=status, body=body)
    (outcome,) = send(adapter(server, transport))
    assert shape(outcome) == CONTRACT[verdict]


def test_an_operator_overrules_a_code(server: AnsweringFake, transport: Transport) -> None:
    server.answer = refusal(400, 21408)
    (outcome,) = send(adapter(server, transport, CODES="21408=misconfigured"))
    assert shape(outcome) == CONTRACT[Verdict.MISCONFIGURED]


@pytest.mark.parametrize("body", [b'{"code": 20500}', b"<html>"])
def test_an_operator_sends_all_messages_on_after_a_500(
    server: AnsweringFake, transport: Transport, body: bytes
) -> None:
    server.answer = ServerAnswer(status=500, body=body)
    (outcome,) = send(adapter(server, transport))
    assert shape(outcome) == CONTRACT[Verdict.UNANSWERED]
    (outcome,) = send(adapter(server, transport, CODES="20500=unavailable, 500=unavailable"))
    assert shape(outcome) == CONTRACT[Verdict.UNAVAILABLE]


def test_a_text_that_is_too_long_harms_no_neighbour(
    server: AnsweringFake, transport: Transport
) -> None:
    assert send(adapter(server, transport), sms("x" * 1601), sms("x" * 1600)) == [
        Rejected(code="payload_too_large", detail="1601 characters, at most 1600"),
        Accepted(message_id=MESSAGE_SID, segments=1),
    ]
    assert len(server.requests) == 1


def test_a_text_that_cannot_be_encoded_harms_no_neighbour(
    server: AnsweringFake, transport: Transport
) -> None:
    found = send(adapter(server, transport), sms("half a smile \ud83d"), sms())
    assert found == [Accepted(message_id=MESSAGE_SID, segments=1)] * 2


def test_an_accepted_message_whose_answer_cannot_be_read_is_still_accepted(
    server: AnsweringFake, transport: Transport
) -> None:
    server.answer = ServerAnswer(status=201, body=b"<html>")
    assert send(adapter(server, transport)) == [Accepted()]


@pytest.mark.parametrize(
    ("told", "segments"),
    [("3", 3), ("0", None), (None, None), ("-1", None), ("NaN", None), ("9" * 99, None)],
)
def test_the_answer_has_twilios_count_of_segments(
    server: AnsweringFake, transport: Transport, told: str | None, segments: int | None
) -> None:
    body = orjson.dumps({"sid": MESSAGE_SID, "num_segments": told})
    server.answer = ServerAnswer(status=201, body=body)
    [found] = send(adapter(server, transport))
    assert found == Accepted(message_id=MESSAGE_SID, segments=segments)


@pytest.mark.parametrize(
    ("body", "findings"),
    [
        (
            {"status": "active", "balance": "12.3", "currency": "USD"},
            [("credentials", True, "account active"), ("quota", True, "balance 12.30 USD")],
        ),
        (
            {"status": "suspended", "balance": "-1", "currency": "USD"},
            [("credentials", False, "account suspended"), ("quota", False, "balance -1.00 USD")],
        ),
    ],
)
def test_a_check_tells_the_accounts_status_and_balance(
    server: AnsweringFake,
    transport: Transport,
    body: dict[str, str],
    findings: list[tuple[str, bool, str]],
) -> None:
    server.answer = ServerAnswer(status=200, body=orjson.dumps(body))
    found = list(adapter(server, transport).check(deadline=PATIENCE))
    assert [(each.subject, each.is_good, each.detail) for each in found] == findings
    paths = {(each.method, each.path.removeprefix("/2010-04-01")) for each in server.requests}
    assert paths == {
        ("GET", f"/Accounts/{ACCOUNT}.json"),
        ("GET", f"/Accounts/{ACCOUNT}/Balance.json"),
    }


def test_a_check_tells_wrong_credentials_from_a_dead_line(
    server: AnsweringFake, transport: Transport
) -> None:
    server.act(Act.BAD_CREDENTIALS)
    found = list(adapter(server, transport).check(deadline=PATIENCE))
    assert Finding(subject="credentials", is_good=False, detail="HTTP 401") in found
    server.stop()
    found = list(adapter(server, transport).check(deadline=PATIENCE))
    assert Finding(subject="reachability", is_good=False, detail="no answer: connect") in found


def test_the_pace_is_what_twilio_takes_for_one_number_unless_said_otherwise(
    server: AnsweringFake, transport: Transport
) -> None:
    assert adapter(server, transport).capabilities.pace == Pace(burst=400, per_second=400)
    slower = adapter(server, transport, PER_SECOND="10")
    assert slower.capabilities.pace == Pace(burst=10, per_second=10)


@pytest.mark.parametrize(
    ("setting", "text"),
    [
        ("NOTIFY_TWILIO_ACCOUNT_SID", ""),
        ("NOTIFY_TWILIO_ACCOUNT_SID", "hunter2"),
        ("NOTIFY_TWILIO_AUTH_TOKEN", ""),
        ("NOTIFY_TWILIO_FROM", ""),
        ("NOTIFY_TWILIO_API_KEY", "SK" + "a" * 32),
        ("NOTIFY_TWILIO_API_KEY", "hunter2:x"),
        ("NOTIFY_TWILIO_SHARED_KEYS", "hunter2"),
        ("NOTIFY_TWILIO_PER_SECOND", "0"),
        ("NOTIFY_TWILIO_URL", "hunter2"),
        ("NOTIFY_TWILIO_CODES", "21211=hunter2"),
        ("NOTIFY_PUBLIC_URL", ""),
        ("NOTIFY_PUBLIC_URL", "hunter2"),
    ],
)
def test_a_wrong_setting_stops_the_start_and_is_named(setting: str, text: str) -> None:
    assert complaint(VENDOR, ENVIRON | {setting: text}).startswith(f"{setting}: ")
