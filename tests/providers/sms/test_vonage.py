"""The requests to Vonage, and the outcomes of its answers."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import closing
from dataclasses import replace
from datetime import timedelta
from uuid import UUID

import orjson
import pytest

from providers.conformance import Act
from providers.contract import (
    Accepted,
    Channel,
    Finding,
    Message,
    Outcome,
    Pace,
    Provider,
    Unanswered,
)
from providers.sandbox_server.wire import ServerAnswer
from providers.sms import gsm7
from providers.sms.vonage import VENDOR
from providers.sms.vonage_codes import REFUSALS
from providers.transport import Transport
from providers.verdicts import Verdict
from tests.providers.answering import BY_STATUS, CONTRACT, AnsweringFake, shape
from tests.providers.messages import message
from tests.providers.sms.vonage_fake import MESSAGE_ID, form, parts, vonage_fake
from tests.providers.trying import PATIENCE, complaint, outcomes

ENVIRON = {
    "NOTIFY_VONAGE_API_KEY": "abcd1234",
    "NOTIFY_VONAGE_API_SECRET": "a-secret",
    "NOTIFY_VONAGE_SIGNATURE_SECRET": "a-signature-secret-of-thirty-two",
    "NOTIFY_VONAGE_FROM": "AcmeInc",
    "NOTIFY_PUBLIC_URL": "https://notify.example.com",
}
THEIRS = (
    b"to=491511234567&from=AcmeInc&text=Dein+Code%3A+123456+%E2%82%AC%26%3D%2B"
    b"&client-ref=00000000-0000-0000-0000-000000000007&type=text&ttl=300000"
    b"&callback=https%3A%2F%2Fnotify.example.com%2Fv1%2Freceipts%2Fvonage"
)
"""What vonage-sms 1.2.0 posts for the same message."""
THEIR_USER = "Basic YWJjZDEyMzQ6YS1zZWNyZXQ="


@pytest.fixture
def server() -> Iterator[AnsweringFake]:
    with closing(vonage_fake()) as it:
        yield it


def adapter(server: AnsweringFake, transport: Transport, **settings: str) -> Provider:
    changes = {f"NOTIFY_VONAGE_{name}": value for name, value in settings.items()}
    environ = ENVIRON | {"NOTIFY_VONAGE_URL": server.origin} | changes
    return VENDOR.configure(environ, transport=transport)


def sms(body: str = "Dein Code: 123456 €&=+") -> Message:
    plain = message("+491511234567", Channel.SMS, body=body)
    return replace(plain, delivery_id=UUID(int=7), time_to_live=timedelta(minutes=5))


def send(provider: Provider, given: Message) -> Outcome:
    (outcome,) = outcomes(provider, given)
    return outcome


def test_the_request_is_byte_for_byte_what_vonages_own_client_sends(
    server: AnsweringFake, transport: Transport
) -> None:
    assert send(adapter(server, transport), sms()) == Accepted(message_id=MESSAGE_ID, segments=1)
    (request,) = server.requests
    assert (request.method, request.target, request.body) == ("POST", "/sms/json", THEIRS)
    assert request.headers["authorization"] == THEIR_USER
    assert request.headers["content-type"] == "application/x-www-form-urlencoded"


@pytest.mark.parametrize(
    ("text", "kind"),
    [
        ("plain {[]} ~^| \\ €", "text"),
        ("Ñandú", "unicode"),
        ("“curly”", "unicode"),
        ("a `tick`", "unicode"),
        ("façade", "unicode"),
        ("FAÇADE àèéìòù", "text"),
        ("😀", "unicode"),
    ],
)
def test_a_text_outside_the_seven_bit_alphabet_goes_as_unicode(
    server: AnsweringFake, transport: Transport, text: str, kind: str
) -> None:
    assert isinstance(send(adapter(server, transport), sms(text)), Accepted)
    (request,) = server.requests
    assert (form(request)["type"], form(request)["text"]) == (kind, text)


def test_the_alphabet_has_as_many_characters_as_the_standard_says() -> None:
    assert len(gsm7.ALPHABET) == 127 + 10, "128 codes less the escape, and the extension"


@pytest.mark.parametrize(
    ("left", "milliseconds"),
    [
        (timedelta(seconds=1), "20000"),
        (timedelta(seconds=90.5), "90500"),
        (timedelta(days=30), "604800000"),
    ],
)
def test_the_ttl_stays_within_vonages_bounds(
    server: AnsweringFake, transport: Transport, left: timedelta, milliseconds: str
) -> None:
    send(adapter(server, transport), replace(sms(), time_to_live=left))
    (request,) = server.requests
    assert form(request)["ttl"] == milliseconds


@pytest.mark.parametrize("code", REFUSALS)
def test_each_documented_status_has_its_outcome(
    server: AnsweringFake, transport: Transport, code: str
) -> None:
    server.answer = parts(code)
    outcome = send(adapter(server, transport), sms())
    assert shape(outcome) == CONTRACT[REFUSALS[code]]
    assert getattr(outcome, "code", None) == code


def test_an_operator_overrules_a_status_and_an_unknown_one_is_final(
    server: AnsweringFake, transport: Transport
) -> None:
    server.answer = parts("77")
    assert shape(send(adapter(server, transport), sms())) == CONTRACT[Verdict.REJECTED]
    overruled = adapter(server, transport, CODES="77=throttled")
    assert shape(send(overruled, sms())) == CONTRACT[Verdict.THROTTLED]


def test_a_long_text_is_accepted_when_every_part_is(
    server: AnsweringFake, transport: Transport
) -> None:
    server.answer = parts("0", "0", "0")
    assert send(adapter(server, transport), sms()) == Accepted(message_id=MESSAGE_ID, segments=3)


@pytest.mark.parametrize("statuses", [("0", "1"), ("9", "0", "0")])
def test_when_only_some_parts_went_nobody_knows_what_the_person_sees(
    server: AnsweringFake, transport: Transport, statuses: tuple[str, ...]
) -> None:
    server.answer = parts(*statuses)
    outcome = send(adapter(server, transport), sms())
    assert isinstance(outcome, Unanswered)
    assert outcome.code == "partly_accepted"


@pytest.mark.parametrize(
    "body", [b"<html>", b"[]", b"{}", b'{"messages": 1}', b'{"messages": []}', b'{"messages": [1]}']
)
def test_a_success_that_cannot_be_read_is_no_success(
    server: AnsweringFake, transport: Transport, body: bytes
) -> None:
    server.answer = ServerAnswer(status=200, body=body)
    assert isinstance(send(adapter(server, transport), sms()), Unanswered)


@pytest.mark.parametrize(("status", "verdict"), BY_STATUS.items())
def test_an_http_error_is_judged_by_its_status(
    server: AnsweringFake, transport: Transport, status: int, verdict: Verdict
) -> None:
    server.answer = ServerAnswer(status=status, body=b'{"title": "no"}')
    assert shape(send(adapter(server, transport), sms())) == CONTRACT[verdict]


@pytest.mark.parametrize("value", [10.28, 0])
def test_a_check_tells_the_balance(
    server: AnsweringFake, transport: Transport, value: float
) -> None:
    server.answer = ServerAnswer(
        status=200, body=orjson.dumps({"value": value, "autoReload": False})
    )
    found = list(adapter(server, transport).check(deadline=PATIENCE))
    assert found == [
        Finding(subject="credentials", is_good=True, detail="signed in"),
        Finding(subject="quota", is_good=value > 0, detail=f"balance {value:.2f} EUR"),
    ]
    (request,) = server.requests
    assert (request.method, request.target) == ("GET", "/account/get-balance")
    assert request.headers["authorization"] == THEIR_USER


def test_a_check_tells_wrong_credentials_from_a_dead_line(
    server: AnsweringFake, transport: Transport
) -> None:
    provider = adapter(server, transport)
    server.answer = ServerAnswer(status=401)
    refused = Finding(subject="credentials", is_good=False, detail="HTTP 401")
    assert list(provider.check(deadline=PATIENCE)) == [refused]
    server.stop()
    silent = Finding(subject="reachability", is_good=False, detail="no answer: connect")
    assert list(provider.check(deadline=PATIENCE)) == [silent]


def test_the_pace_is_one_keys_unless_said_otherwise(
    server: AnsweringFake, transport: Transport
) -> None:
    assert adapter(server, transport).capabilities.pace == Pace(burst=30, per_second=30)
    faster = adapter(server, transport, PER_SECOND="100")
    assert faster.capabilities.pace == Pace(burst=100, per_second=100)


@pytest.mark.parametrize(
    ("setting", "text"),
    [
        ("NOTIFY_VONAGE_API_KEY", ""),
        ("NOTIFY_VONAGE_API_SECRET", ""),
        ("NOTIFY_VONAGE_SIGNATURE_SECRET", ""),
        ("NOTIFY_VONAGE_SIGNATURE_METHOD", "hunter2"),
        ("NOTIFY_VONAGE_SIGNATURE_METHOD", "md5"),
        ("NOTIFY_VONAGE_FROM", ""),
        ("NOTIFY_VONAGE_URL", "hunter2"),
        ("NOTIFY_VONAGE_CODES", "7=hunter2"),
        ("NOTIFY_PUBLIC_URL", ""),
        ("NOTIFY_PUBLIC_URL", "https://" + "hunter2." * 10 + "example.com"),
    ],
)
def test_a_wrong_setting_stops_the_start_and_is_named(setting: str, text: str) -> None:
    assert complaint(VENDOR, ENVIRON | {setting: text}).startswith(f"{setting}: ")


def test_the_longest_public_url_that_vonage_takes_is_taken(transport: Transport) -> None:
    longest = "https://" + "a" * (100 - len("https:///v1/receipts/vonage"))
    VENDOR.configure(ENVIRON | {"NOTIFY_PUBLIC_URL": longest}, transport=transport)
    assert "too long" in complaint(VENDOR, ENVIRON | {"NOTIFY_PUBLIC_URL": longest + "a"})


def test_a_refusal_carries_no_number(server: AnsweringFake, transport: Transport) -> None:
    server.act(Act.REJECT)
    assert "491511234567" not in repr(send(adapter(server, transport), sms()))
