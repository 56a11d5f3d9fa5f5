"""Requests that Expo gets, and the outcomes of its tickets and errors."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from contextlib import closing
from dataclasses import replace
from datetime import timedelta
from functools import partial
from pathlib import Path

import pytest

from providers import verdicts
from providers.conformance import Act
from providers.contract import (
    Accepted,
    Message,
    Misconfigured,
    Receipt,
    ReceiptKind,
    Rejected,
    Throttled,
    Unanswered,
)
from providers.push import expo, expo_token
from providers.push.expo import MESSAGES_PER_REQUEST, PAYLOAD_LIMIT_BYTES, TABLE, Config, Expo
from providers.receipt_lookup import Answer
from providers.sandbox_server.wire import ServerAnswer
from providers.transport import Transport
from tests.providers.messages import message
from tests.providers.push.vendors import ExpoFake, expo_error, expo_refusal, expo_tickets
from tests.providers.trying import PATIENCE, complaint, outcomes

TOKEN = "ExponentPushToken[device-1]"
OK = {"status": "ok", "id": "ticket-1"}
OF_REQUESTS = ("TOO_MANY_REQUESTS", "UNAUTHORIZED")


@pytest.fixture
def server(certificate: Path) -> Iterator[ExpoFake]:
    with closing(ExpoFake(certificate=certificate)) as it:
        yield it


def adapter(server: ExpoFake, transport: Transport, codes: str = "") -> Expo:
    config = Config(
        access_token="access-token",
        url=server.url,
        codes=verdicts.overrides(codes) if codes else {},
    )
    return Expo(config, transport=transport)


@pytest.fixture
def provider(server: ExpoFake, transport: Transport) -> Expo:
    return adapter(server, transport)


def to_devices(number: int) -> list[Message]:
    return [message(f"ExponentPushToken[device-{each}]") for each in range(number)]


def answer_with(code: str) -> ServerAnswer:
    if code in OF_REQUESTS:
        return expo_error(418, code)
    return expo_tickets(expo_refusal(code))


def test_a_push_is_what_expo_documents(server: ExpoFake, provider: Expo) -> None:
    it = replace(message(TOKEN), urgent=True, data={"type": "ORDER_READY", "url": "/orders/1"})
    (outcome,) = outcomes(provider, it)
    assert isinstance(outcome, Accepted)
    assert outcome.message_id
    (request,) = server.requests
    assert (request.method, request.target) == ("POST", "/--/api/v2/push/send")
    assert request.headers["authorization"] == "Bearer access-token"
    assert request.headers["content-type"] == "application/json"
    assert server.sent == [
        [
            {
                "to": TOKEN,
                "title": "Order ready",
                "body": "Your order is ready.",
                "data": {
                    "type": "ORDER_READY",
                    "url": "/orders/1",
                    "notification_id": str(it.notification_id),
                    "delivery_id": str(it.delivery_id),
                },
                "ttl": 24 * 3600,
                "priority": "high",
                "mutableContent": True,
            }
        ]
    ]


def test_a_patient_push_lives_four_weeks_at_most(server: ExpoFake, provider: Expo) -> None:
    outcomes(provider, replace(message(TOKEN), time_to_live=timedelta(days=400)))
    ((sent,),) = server.sent
    assert (sent["priority"], sent["ttl"]) == ("normal", 28 * 24 * 3600)


def test_a_batch_takes_few_requests(server: ExpoFake, provider: Expo) -> None:
    found = outcomes(provider, *to_devices(250))
    assert Counter(map(type, found)) == {Accepted: 250}
    sizes = sorted(len(part) for part in server.sent)
    assert sizes == [50, MESSAGES_PER_REQUEST, MESSAGES_PER_REQUEST]


@pytest.mark.parametrize("code", TABLE)
def test_each_code_has_its_outcome(server: ExpoFake, provider: Expo, code: str) -> None:
    server.script = [answer_with(code)]
    (outcome,) = outcomes(provider, message(TOKEN))
    expected = verdicts.outcome(TABLE[code], code=code, detail="")
    assert replace(outcome, detail="") == expected  # type: ignore[arg-type] # a dataclass with a detail


@pytest.mark.parametrize("code", TABLE)
def test_an_operator_may_change_what_a_code_means(
    server: ExpoFake, transport: Transport, code: str
) -> None:
    server.script = [answer_with(code)]
    (outcome,) = outcomes(adapter(server, transport, f"{code}=unanswered"), message(TOKEN))
    assert isinstance(outcome, Unanswered)


def test_a_token_of_another_account_counts_not_against_the_account(
    server: ExpoFake, provider: Expo
) -> None:
    assert outcomes(provider, message(TOKEN)) != []
    foreign, own = to_devices(2)
    server.script = [
        answer_with("UNAUTHORIZED"),  # for both together
        answer_with("UNAUTHORIZED"),
        expo_tickets(OK),
    ]
    found = outcomes(provider, foreign, own)
    refused = Rejected(code="UNAUTHORIZED", contact_is_dead=True, may_be_misconfigured=True)
    assert sorted(found, key=repr) == [Accepted(message_id="ticket-1"), refused]


def test_a_second_refusal_in_a_row_counts_against_the_account(
    server: ExpoFake, provider: Expo
) -> None:
    server.script = [expo_tickets(OK), answer_with("UNAUTHORIZED"), answer_with("UNAUTHORIZED")]
    found = [outcomes(provider, each)[0] for each in to_devices(3)]
    assert [type(each) for each in found] == [Accepted, Rejected, Misconfigured]


def test_each_message_gets_its_own_ticket(server: ExpoFake, provider: Expo) -> None:
    batch = to_devices(3)
    server.script = [expo_tickets(OK, expo_refusal("DeviceNotRegistered", to=batch[1].address), OK)]
    first, second, third = outcomes(provider, *batch)
    assert first == third == Accepted(message_id="ticket-1")
    assert isinstance(second, Rejected)
    assert second.contact_is_dead
    assert '[address]" is not a registered' in second.detail


def test_tokens_of_several_projects_go_in_requests_of_their_own(
    server: ExpoFake, provider: Expo
) -> None:
    batch = to_devices(6)
    server.projects = {each.address: "@shop/courier" for each in batch[::2]}
    begun: list[int] = []
    noted = [
        replace(each, on_begin=partial(begun.append, number)) for number, each in enumerate(batch)
    ]
    found = outcomes(provider, *noted)
    assert Counter(map(type, found)) == {Accepted: 6}
    assert sorted(len(part) for part in server.sent) == [3, 3, 6]
    assert sorted(begun) == list(range(6))


@pytest.mark.parametrize("details", [None, {"@shop/app": 5}, {"@shop/app": []}, {"a": [TOKEN]}])
def test_a_list_of_projects_that_cannot_be_read_divides_to_single_messages(
    server: ExpoFake, provider: Expo, details: object
) -> None:
    server.script = [expo_error(400, "PUSH_TOO_MANY_EXPERIENCE_IDS", details=details)]
    found = outcomes(provider, message(TOKEN), message(TOKEN))
    assert Counter(map(type, found)) == {Accepted: 2}
    assert [len(part) for part in server.sent] == [2, 1, 1]


def test_a_message_that_expo_cannot_read_harms_no_other(server: ExpoFake, provider: Expo) -> None:
    batch = to_devices(5)
    server.malformed = {batch[3].address}
    found = outcomes(provider, *batch)
    assert found.pop(3) == Rejected(code="VALIDATION_ERROR")
    assert Counter(map(type, found)) == {Accepted: 4}


def test_a_refusal_for_the_rate_is_not_sent_again(server: ExpoFake, provider: Expo) -> None:
    server.act(Act.THROTTLE)
    found = outcomes(provider, *to_devices(3))
    assert found == [Throttled(code="TOO_MANY_REQUESTS", retry_after=timedelta(seconds=90))] * 3
    assert len(server.sent) == 1


@pytest.mark.parametrize(
    "answer",
    [
        ServerAnswer(status=200, body=b"<html>"),
        ServerAnswer(status=200, body=b"[]"),
        ServerAnswer(status=200, body=b'{"data": {"status": "ok"}}'),
        expo_tickets(OK),
        expo_tickets(OK, OK, OK),
        expo_tickets(None, {"status": "new"}),
    ],
)
def test_a_success_without_readable_tickets_is_no_answer(
    server: ExpoFake, provider: Expo, answer: ServerAnswer
) -> None:
    server.script = [answer]
    assert outcomes(provider, *to_devices(2)) == [Unanswered(code="unreadable")] * 2


@pytest.mark.parametrize(
    "ticket",
    [
        {"status": "error"},
        {"status": "error", "message": None, "details": None},
        {"status": "error", "message": ["x"], "details": {"error": ""}},
    ],
)
def test_an_error_without_a_code_rejects_the_message(
    server: ExpoFake, provider: Expo, ticket: object
) -> None:
    server.script = [expo_tickets(ticket)]
    (outcome,) = outcomes(provider, message(TOKEN))
    assert isinstance(outcome, Rejected)
    assert (outcome.code, outcome.contact_is_dead) == ("error", False)


@pytest.mark.parametrize(
    "address", ["", "device-token-1", "ExponentPushToken[]", f"{TOKEN}\n", f"x{TOKEN}"]
)
def test_another_token_is_never_sent(server: ExpoFake, provider: Expo, address: str) -> None:
    (outcome,) = outcomes(provider, message(address))
    assert outcome == Rejected(code="malformed_token", detail="no Expo push token")
    assert server.requests == []


@pytest.mark.parametrize("token", [TOKEN, "ExpoPushToken[xxxxxxxxxxxxxxxxxxxxxx]"])
def test_both_forms_of_a_token_are_known(token: str) -> None:
    assert expo_token.is_token(token)


def test_a_payload_over_four_kilobytes_is_never_sent(provider: Expo) -> None:
    large = replace(message(TOKEN), body="x" * PAYLOAD_LIMIT_BYTES)
    refused, accepted = outcomes(provider, large, message(TOKEN))
    assert isinstance(refused, Rejected)
    assert refused.code == "payload_too_large"
    assert isinstance(accepted, Accepted)


def test_a_check_sends_nothing(server: ExpoFake, provider: Expo) -> None:
    (good,) = provider.check(deadline=PATIENCE)
    server.act(Act.BAD_CREDENTIALS)
    (bad,) = provider.check(deadline=PATIENCE)
    server.stop()
    (away,) = provider.check(deadline=PATIENCE)
    assert (good.is_good, good.detail) == (True, "HTTP 200")
    assert (bad.is_good, bad.detail) == (False, "HTTP 401 UNAUTHORIZED")
    assert (away.subject, away.is_good) == ("reachability", False)
    assert server.sent == []


def test_receipts_are_read_by_the_ticket(server: ExpoFake, provider: Expo) -> None:
    server.receipts = {
        "good": {"status": "ok"},
        "gone": expo_refusal("DeviceNotRegistered", to=TOKEN),
        "large": expo_refusal("MessageTooBig"),
        "odd": {"status": "error", "details": 5},
        "nul": {"status": "error", "details": {"error": "a\0"}},
    }
    strange = {"text": "x", "new": {"status": ["ok"]}, "empty": {}}
    server.receipts |= strange
    answer = provider.look_up_receipts([*server.receipts, "waiting"], deadline=PATIENCE)
    assert (set(answer.known), answer.fault) == (server.receipts.keys() - strange.keys(), "")
    assert answer.receipts == (
        Receipt(
            kind=ReceiptKind.BOUNCED,
            provider_message_id="gone",
            code="DeviceNotRegistered",
            contact_is_dead=True,
        ),
        Receipt(kind=ReceiptKind.FAILED, provider_message_id="large", code="MessageTooBig"),
        Receipt(kind=ReceiptKind.FAILED, provider_message_id="odd", code="error"),
        Receipt(kind=ReceiptKind.FAILED, provider_message_id="nul", code="error"),
    )
    assert server.sent == []


@pytest.mark.parametrize(
    ("body", "fault"),
    [
        (b"<html>", "unreadable"),
        (b"[]", "unreadable"),
        (b"5", "unreadable"),
        (b'{"data": null}', "unreadable"),
        (b'{"data": ["a"]}', "unreadable"),
        (b'{"data": {}}', ""),
    ],
)
def test_an_answer_that_cannot_be_read_has_no_receipt(
    server: ExpoFake, provider: Expo, body: bytes, fault: str
) -> None:
    server.script = [ServerAnswer(status=200, body=body)]
    assert provider.look_up_receipts(["a"], deadline=PATIENCE) == Answer(fault=fault)


def test_receipts_of_an_expo_that_is_away_are_asked_for_again(
    server: ExpoFake, provider: Expo
) -> None:
    server.act(Act.BAD_CREDENTIALS)
    refused = provider.look_up_receipts(["a"], deadline=PATIENCE)
    server.stop()
    away = provider.look_up_receipts(["a"], deadline=PATIENCE)
    assert (refused.fault, away.fault) == ("HTTP 401", "connect")


def test_a_start_names_the_missing_token() -> None:
    said = complaint(expo.VENDOR, {"NOTIFY_EXPO_URL": "https://exp.host"})
    assert "NOTIFY_EXPO_ACCESS_TOKEN" in said
