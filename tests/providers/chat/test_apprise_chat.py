"""Requests to chat services, and the outcomes of the answers."""

from __future__ import annotations

from contextlib import closing
from dataclasses import replace
from datetime import timedelta
from itertools import product

import orjson
import pytest

from providers.chat.apprise_chat import VENDOR
from providers.chat.services import SERVICES
from providers.conformance import Act
from providers.contract import (
    Accepted,
    Channel,
    Finding,
    Message,
    Provider,
    Rejected,
    Throttled,
)
from providers.sandbox_server.wire import ServerAnswer, ServerRequest
from providers.transport import Transport
from providers.verdicts import Verdict
from tests.providers.answering import CONTRACT, AnsweringFake, shape
from tests.providers.chat.services_fake import (
    CASES,
    TOKEN,
    Case,
    fields,
    refusal,
)
from tests.providers.messages import message
from tests.providers.trying import PATIENCE, complaint, outcomes

ENVIRON = {"NOTIFY_APPRISE_SCHEMES": ",".join(SERVICES), "NOTIFY_APPRISE_FROM": "Shop"}
BY_SCHEME = {case.scheme: case for case in CASES.values()}
BY_SCHEME["workflow"] = Case(
    address=BY_SCHEME["workflows"].address.replace("workflows:", "workflow:"),
    origin=BY_SCHEME["workflows"].origin,
    target=BY_SCHEME["workflows"].target,
)
BY_STATUS = (
    (400, Verdict.REJECTED),
    (429, Verdict.THROTTLED),
    (500, Verdict.UNAVAILABLE),
)


def adapter(server: AnsweringFake, transport: Transport, **settings: str) -> Provider:
    origins = {case.origin for case in CASES.values()}
    changes = {f"NOTIFY_APPRISE_{name}": value for name, value in settings.items()}
    ends = ",".join(f"{origin}={server.origin}" for origin in sorted(origins))
    environ = ENVIRON | {"NOTIFY_APPRISE_ENDPOINTS": ends} | changes
    return VENDOR.configure(environ, transport=transport)


def chat(address: str, *, title: str = "Order", body: str = "It is ready") -> Message:
    return message(address, Channel.CHAT, title=title, body=body)


@pytest.mark.parametrize("case", CASES.values(), ids=CASES)
def test_an_address_becomes_one_post_of_title_and_text(
    server: AnsweringFake, transport: Transport, case: Case
) -> None:
    assert outcomes(adapter(server, transport), chat(case.address)) == [Accepted()]
    (request,) = server.requests
    assert (request.method, request.target) == ("POST", case.target)
    body = orjson.dumps(fields(case, request.body)).decode()
    for part in ("Order", "It is ready", *case.contains):
        assert part in body
    assert "apprise" not in body.lower(), "it is our message, not the library's"


def test_an_address_may_name_a_thread(server: AnsweringFake, transport: Transport) -> None:
    case = CASES["discord"]
    assert outcomes(adapter(server, transport), chat(case.address + "?thread=42")) == [Accepted()]
    (request,) = server.requests
    assert request.target == case.target.replace("?", "?thread_id=42&")
    body = orjson.loads(request.body)
    assert body["content"] == "Order\nIt is ready"
    assert "embeds" not in body
    assert "wait" not in body, "Discord reads `wait` in the query alone"


def test_a_bots_token_goes_in_the_header(server: AnsweringFake, transport: Transport) -> None:
    outcomes(adapter(server, transport), chat(CASES["slack bot"].address))
    (request,) = server.requests
    assert request.headers["authorization"] == "Bearer xoxb-1234-1234-abc124"


def test_every_service_has_an_address_that_proves_it() -> None:
    assert BY_SCHEME.keys() == SERVICES.keys()


@pytest.mark.parametrize("scheme", SERVICES)
def test_each_documented_code_has_its_outcome(
    server: AnsweringFake, transport: Transport, scheme: str
) -> None:
    provider = adapter(server, transport)
    for code, verdict in SERVICES[scheme].codes.items():
        server.answer = refusal(scheme, code)
        (outcome,) = outcomes(provider, chat(BY_SCHEME[scheme].address))
        assert shape(outcome) == CONTRACT[verdict], code
        assert getattr(outcome, "code", None) == f"{scheme}:{code}"


@pytest.mark.parametrize("word", ["no_service", "channel_is_archived", "invalid_token"])
def test_slacks_webhooks_answer_with_a_bare_word(
    server: AnsweringFake, transport: Transport, word: str
) -> None:
    server.answer = ServerAnswer(status=404, body=word.encode())
    (outcome,) = outcomes(adapter(server, transport), chat(CASES["slack webhook"].address))
    assert shape(outcome) == CONTRACT[Verdict.DEAD]
    assert getattr(outcome, "code", None) == f"slack:{word}"
    server.answer = ServerAnswer(status=200, body=b"ok")
    assert outcomes(adapter(server, transport), chat(CASES["slack webhook"].address)) == [
        Accepted()
    ]


@pytest.mark.parametrize(
    ("name", "body", "message_id"),
    [
        ("slack bot", {"ok": True, "ts": "1503435956.000247"}, "1503435956.000247"),
        ("telegram", {"ok": True, "result": {"message_id": 815}}, "815"),
        ("google chat", {"name": "spaces/a/messages/b"}, "spaces/a/messages/b"),
        ("discord", {"id": "1234", "type": 0, "content": "It is ready"}, "1234"),
        ("zulip", {"result": "success", "msg": "", "id": 42}, "42"),
        ("nextcloud talk", {"ocs": {"meta": {"statuscode": 201}, "data": {"id": 7}}}, "7"),
        ("lark", {"StatusCode": 0, "code": 0, "data": {}, "msg": "success"}, ""),
        ("dingtalk", {"errcode": 0, "errmsg": "ok"}, ""),
        ("line", {"sentMessages": [{"id": "461230966842064897"}]}, "461230966842064897"),
        ("viber", {"status": 0, "status_message": "ok", "message_token": 57}, "57"),
        ("pushover", {"status": 1, "request": "647d2300"}, "647d2300"),
        ("ntfy", {"id": "sPs71M8A2T", "event": "message", "message": "x"}, "sPs71M8A2T"),
        ("gotify", {"id": 25, "appid": 5, "message": "x"}, "25"),
    ],
)
def test_a_services_own_id_is_kept(
    server: AnsweringFake, transport: Transport, name: str, body: object, message_id: str
) -> None:
    server.answer = ServerAnswer(status=200, body=orjson.dumps(body))
    (outcome,) = outcomes(adapter(server, transport), chat(CASES[name].address))
    assert outcome == Accepted(message_id=message_id)


@pytest.mark.parametrize(
    ("name", "headers", "body", "wait"),
    [
        ("discord", (), {"retry_after": 0.65, "global": False, "code": 0}, 0.65),
        ("discord", (("Retry-After", "3"),), {"retry_after": 2.5}, 3),
        ("telegram", (), {"ok": False, "parameters": {"retry_after": 35}}, 35),
        ("telegram", (), {"ok": False, "parameters": {"retry_after": 1e300}}, 86_400),
        ("slack bot", (("Retry-After", "30"),), {"ok": False, "error": "ratelimited"}, 30),
        ("webex", (("Retry-After", "5"),), {}, 5),
        ("zulip", (), {"code": "RATE_LIMIT_HIT", "retry-after": 28.5}, 28.5),
    ],
)
def test_a_wait_is_read_where_the_service_says_it(
    server: AnsweringFake,
    transport: Transport,
    name: str,
    headers: tuple[tuple[str, str], ...],
    body: object,
    wait: float,
) -> None:
    server.answer = ServerAnswer(status=429, headers=headers, body=orjson.dumps(body))
    (outcome,) = outcomes(adapter(server, transport), chat(CASES[name].address))
    assert isinstance(outcome, Throttled)
    assert outcome.retry_after == timedelta(seconds=wait)


@pytest.mark.parametrize("case", CASES.values(), ids=CASES)
def test_an_answer_that_says_nothing_is_judged_by_its_status(
    server: AnsweringFake, transport: Transport, case: Case
) -> None:
    provider, codes = adapter(server, transport), SERVICES[case.scheme].codes
    for (status, verdict), body in product(BY_STATUS, (b"", b"<html>", b"[1]", b'{"error": 1}')):
        server.answer = ServerAnswer(status=status, body=body)
        (outcome,) = outcomes(provider, chat(case.address))
        assert shape(outcome) == CONTRACT[codes.get(str(status), verdict)], (status, body)


@pytest.mark.parametrize("case", CASES.values(), ids=CASES)
def test_no_refused_credential_stops_other_addresses(
    server: AnsweringFake, transport: Transport, case: Case
) -> None:
    provider = adapter(server, transport)
    for status in (401, 403, 407):
        server.answer = ServerAnswer(status=status)
        (outcome,) = outcomes(provider, chat(case.address))
        assert isinstance(outcome, Rejected), status


@pytest.mark.parametrize("tail", ["", "/", "?topic=7", ":7"])
def test_a_message_to_a_group_that_became_a_supergroup_reaches_the_supergroup(
    transport: Transport, tail: str
) -> None:
    new = -1001557912345

    def answer(_: Act, request: ServerRequest) -> ServerAnswer:
        if orjson.loads(request.body)["chat_id"] == new:
            return ServerAnswer(status=200, body=b'{"ok": true, "result": {"message_id": 815}}')
        return upgraded(new)

    old, other = chat(f"tgram://{TOKEN}/-1234{tail}"), chat(f"tgram://{TOKEN}/{new}")
    with closing(AnsweringFake(answer, key=lambda each: each.headers["idempotency-key"])) as fake:
        found = outcomes(adapter(fake, transport), old, other)
        assert isinstance(found[0], Accepted)
        assert found[0].new_address.partition("?")[0] == f"tgram://{TOKEN}/{new}"
        assert found == [replace(found[0], new_address=""), found[0]][::-1]
        assert TOKEN not in repr(found)
        moved = chat(found[0].new_address)
        assert outcomes(adapter(fake, transport), moved) == [Accepted(message_id="815")]
        bodies = [orjson.loads(each.body) for each in fake.requests]
    assert sorted(each["chat_id"] for each in bodies) == [new, new, new, -1234]
    assert len({each["text"] for each in bodies}) == 1


def test_a_group_that_moves_again_and_again_stops_no_message_and_kills_no_contact(
    server: AnsweringFake, transport: Transport
) -> None:
    server.answer = upgraded(-1001557912345)
    (outcome,) = outcomes(adapter(server, transport), chat(f"tgram://{TOKEN}/-1234"))
    assert shape(outcome) == ("Rejected", False)
    assert len(server.requests) == 2


def upgraded(new: int) -> ServerAnswer:
    body = {
        "ok": False,
        "error_code": 400,
        "description": "Bad Request: group chat was upgraded to a supergroup chat",
        "parameters": {"migrate_to_chat_id": new},
    }
    return ServerAnswer(status=400, body=orjson.dumps(body))


def test_an_operator_overrules_a_code_and_an_unknown_word_in_a_200_is_final(
    server: AnsweringFake, transport: Transport
) -> None:
    server.answer = refusal("slack", "as_new_as_today")
    bot = chat(CASES["slack bot"].address)
    assert [shape(each) for each in outcomes(adapter(server, transport), bot)] == [
        ("Rejected", False)
    ]
    overruled = adapter(server, transport, CODES="slack:as_new_as_today=unavailable")
    assert [shape(each) for each in outcomes(overruled, bot)] == [("Unavailable", False)]


def test_a_refusal_repeats_no_part_of_an_address(
    server: AnsweringFake, transport: Transport
) -> None:
    for case in CASES.values():
        server.answer = ServerAnswer(status=400, body=f"no such place: {case.target}".encode())
        (outcome,) = outcomes(adapter(server, transport), chat(case.address))
        assert isinstance(outcome, Rejected)
        pieces = [piece for piece in case.address.split("/")[3:] if len(piece) > 12]
        assert not any(piece in outcome.detail for piece in pieces)


def test_a_check_tells_which_service_can_be_reached(
    server: AnsweringFake, transport: Transport
) -> None:
    provider = adapter(server, transport, SCHEMES="tgram,discord,mmosts")
    found = list(provider.check(deadline=PATIENCE))
    assert {(each.subject, each.is_good) for each in found} == {("tgram", True), ("discord", True)}
    server.stop()
    dead = Finding(subject="tgram", is_good=False, detail="no answer: connect")
    assert dead in list(provider.check(deadline=PATIENCE))


@pytest.mark.parametrize(
    ("setting", "text"),
    [
        ("NOTIFY_APPRISE_SCHEMES", ""),
        ("NOTIFY_APPRISE_SCHEMES", "slack,json"),
        ("NOTIFY_APPRISE_SCHEMES", "hunter2"),
        ("NOTIFY_APPRISE_ALLOW_PRIVATE", "hunter2"),
        ("NOTIFY_APPRISE_ENDPOINTS", "https://api.telegram.org"),
        ("NOTIFY_APPRISE_ENDPOINTS", "https://api.telegram.org=hunter2"),
        ("NOTIFY_APPRISE_CODES", "slack:no_text=hunter2"),
    ],
)
def test_a_wrong_setting_stops_the_start_and_is_named(setting: str, text: str) -> None:
    assert complaint(VENDOR, ENVIRON | {setting: text}).startswith(f"{setting}: ")
