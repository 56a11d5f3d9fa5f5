"""The language of descriptions: each key in a request, an answer and a callback."""

from __future__ import annotations

import hmac
from base64 import b64encode
from collections.abc import Iterator
from contextlib import closing
from dataclasses import replace
from datetime import timedelta
from pathlib import Path
from typing import Any
from uuid import UUID, uuid4

import orjson
import pytest

from providers.conformance import Act
from providers.contract import (
    Accepted,
    Channel,
    Finding,
    Message,
    Outcome,
    Provider,
    Receipt,
    ReceiptKind,
    ReceiptRequest,
    Rejected,
    Repeat,
    Throttled,
    Unanswered,
)
from providers.errors import InvalidSignature, MalformedReceipt, NoReceipts
from providers.sandbox_server.wire import ServerAnswer, ServerRequest
from providers.sms.gateways import description, vendors
from providers.transport import Transport
from tests.providers.answering import AnsweringFake
from tests.providers.messages import message
from tests.providers.trying import PATIENCE, outcomes

DELIVERY = UUID(int=7)
SECRET = "a-secret-of-the-callback"
HERE = "https://notify.example.com/v1/receipts/acme"
JSON = """\
title = "Acme"

[settings]
token = { help = "Token.", secret = true }
route = { help = "Route.", default = "" }

[request]
path = "/send/{token}"
json = { to = "{to}", text = "{text}", route = "{route}", tags = ["a", "{route}"], flash = false }
"""
ANSWER = """
[answer]
taken = { "result.0.ok" = [true, "queued"] }
id = "result.0.id"
segments = "result.0.parts"
code = ["result.0.code", "error"]
codes = { slow = "throttled", http-409 = "unavailable" }
"""
CALLBACKS = """
[receipts]
url = "account"
each = "reports"
id = "id"
delivery_id = "ref"
status = "status.name"
statuses = { DELIVRD = "delivered", READ = "read", UNDELIV = "unavailable", SENT = "on_its_way" }
code = "status.code"
codes = { 1 = "dead", 2 = "opted_out" }
segments = "parts"
price = "price"
currency = "currency"
"""


def _taken(_act: Act, _request: ServerRequest) -> ServerAnswer:
    return ServerAnswer(status=200, body=b"{}")


@pytest.fixture(scope="module")
def shared() -> Iterator[Transport]:
    with closing(Transport()) as it:
        yield it


@pytest.fixture(scope="module")
def running() -> Iterator[AnsweringFake]:
    with closing(AnsweringFake(_taken, key=str)) as it:
        yield it


@pytest.fixture
def server(running: AnsweringFake) -> AnsweringFake:
    running.answer = None
    running.requests.clear()
    return running


class Adapters:
    """Adapters of descriptions."""

    def __init__(self, folder: Path, server: AnsweringFake, transport: Transport) -> None:
        self._file = folder / "acme.toml"
        self._server, self._transport = server, transport

    def adapter(self, text: str, **settings: str) -> Provider:
        self._file.write_text(text)
        vendor = vendors.vendor_of("acme", description.load(self._file))
        values = {"TOKEN": "a/b", "URL": self._server.origin, "CALLBACK_SECRET": SECRET} | settings
        environ = {f"NOTIFY_ACME_{name}": value for name, value in values.items()}
        environ["NOTIFY_PUBLIC_URL"] = "https://notify.example.com"
        return vendor.configure(environ, transport=self._transport)

    def request(self, text: str, given: Message | None = None, **settings: str) -> ServerRequest:
        outcomes(self.adapter(text, **settings), given or sms())
        (request,) = self._server.requests
        return request

    def outcome(self, text: str, answer: ServerAnswer, **settings: str) -> Outcome:
        self._server.answer = answer
        (outcome,) = outcomes(self.adapter(text, **settings), sms())
        return outcome


@pytest.fixture
def world(tmp_path: Path, server: AnsweringFake, shared: Transport) -> Adapters:
    return Adapters(tmp_path, server, shared)


def sms(body: str = "Code 1", **changes: Any) -> Message:  # noqa: ANN401 - fields of a message
    plain = message("+491511234567", Channel.SMS, body=body, **changes)
    return replace(plain, delivery_id=DELIVERY)


def answer(body: object, status: int = 200) -> ServerAnswer:
    return ServerAnswer(status=status, body=orjson.dumps(body))


def callback(*reports: object, url: str = f"{HERE}?token={SECRET}") -> ReceiptRequest:
    return ReceiptRequest(url=url, headers={}, body=orjson.dumps({"reports": reports}))


def report(status: str, *, code: object = "", **changes: object) -> dict[str, object]:
    about = {"name": status, "code": code}
    return {"id": "m-1", "ref": str(DELIVERY), "status": about} | changes


def test_a_setting_without_a_value_leaves_out_its_field(world: Adapters) -> None:
    request = world.request(JSON)
    assert request.target == "/send/a%2Fb"
    assert orjson.loads(request.body) == {
        "to": "+491511234567",
        "text": "Code 1",
        "tags": ["a"],
        "flash": False,
    }


def test_a_setting_with_a_value_is_in_each_place(world: Adapters) -> None:
    body = orjson.loads(world.request(JSON, ROUTE="fast").body)
    assert (body["route"], body["tags"]) == ("fast", ["a", "fast"])


def test_a_get_has_its_values_in_the_query(world: Adapters) -> None:
    text = JSON.partition("json =")[0].replace('"/send/{token}"', '"/send"\nmethod = "GET"')
    text += (
        'query = { n = "{to_digits}", t = "{text}", r = "{route}", u = "{ttl_minutes}", f = true }'
    )
    request = world.request(text, sms("a&b €", time_to_live=timedelta(minutes=5)))
    assert (request.method, request.body) == ("GET", b"")
    assert request.target == "/send?n=491511234567&t=a%26b+%E2%82%AC&u=5&f=true"


@pytest.mark.parametrize(
    ("text", "left", "expected"),
    [
        ("plain", timedelta(seconds=1), {"e": 0, "s": 60}),
        ("“curly”", timedelta(days=9), {"e": 8, "s": 600}),
        ("plain €", timedelta(seconds=90.5), {"e": 0, "s": 90}),
    ],
)
def test_numbers_stay_numbers_and_the_ttl_stays_in_its_bounds(
    world: Adapters, text: str, left: timedelta, expected: dict[str, int]
) -> None:
    described = JSON.partition("json =")[0] + (
        'json = { n = "{to}", t = "{text}", e = "{encoding}", s = "{ttl_seconds}" }\n'
        "encoding = { gsm7 = 0, unicode = 8 }\nttl_seconds = [60, 600]"
    )
    body = orjson.loads(world.request(described, sms(text, time_to_live=left)).body)
    assert {"e": body["e"], "s": body["s"]} == expected


def test_a_text_that_is_too_long_or_no_unicode_is_not_sent(
    world: Adapters, server: AnsweringFake
) -> None:
    provider = world.adapter(JSON + "max_characters = 10\n")
    found = outcomes(provider, sms("x" * 10), replace(sms("x" * 11), delivery_id=uuid4()))
    assert isinstance(found[0], Accepted)
    assert found[1] == Rejected(code="payload_too_large", detail="11 characters, at most 10")
    (broken,) = outcomes(provider, sms("\ud83d"))
    assert isinstance(broken, Rejected)
    assert len(server.requests) == 1


@pytest.mark.parametrize(
    ("given", "expected"),
    [
        (
            answer({"result": [{"ok": True, "id": 7, "parts": 2}]}),
            Accepted(message_id="7", segments=2),
        ),
        (answer({"result": [{"ok": "queued", "id": "m"}]}), Accepted(message_id="m")),
        (answer({"error": "slow"}), Throttled(code="slow", detail='{"error":"slow"}')),
    ],
)
def test_an_answer_is_read_by_its_paths(
    world: Adapters, given: ServerAnswer, expected: Outcome
) -> None:
    assert world.outcome(JSON + ANSWER, given) == expected


def test_another_value_is_a_refusal_and_an_operator_overrules_it(world: Adapters) -> None:
    refused = answer({"result": [{"ok": False, "code": 77}]})
    outcome = world.outcome(JSON + ANSWER, refused)
    assert isinstance(outcome, Rejected)
    assert outcome.code == "77"
    overruled = world.outcome(JSON + ANSWER, refused, CODES="77=throttled")
    assert isinstance(overruled, Throttled)


@pytest.mark.parametrize("body", [b"", b"<html>", b"{}", b'{"result": []}', b'{"result": 1}'])
def test_an_answer_that_cannot_be_read_is_no_answer(world: Adapters, body: bytes) -> None:
    for text in (JSON + ANSWER, JSON + '[answer]\nid = "result.id"\n'):
        outcome = world.outcome(text, ServerAnswer(status=200, body=body))
        assert isinstance(outcome, Unanswered)
        assert outcome.code == "unreadable"


def test_a_status_without_a_known_code_has_its_line_and_retry_after(world: Adapters) -> None:
    given = replace(answer({"error": "other"}, status=409), headers=(("Retry-After", "7"),))
    outcome = world.outcome(JSON + ANSWER, given)
    assert (type(outcome).__name__, outcome.code) == ("Unavailable", "http-409")  # type: ignore[union-attr] # any
    assert getattr(outcome, "retry_after", None) == timedelta(seconds=7)


def test_a_text_is_an_answer_too(world: Adapters) -> None:
    text = JSON + '[answer]\ntaken = { "." = ["OK"] }\ncode = ["."]\ncodes = { E1 = "dead" }\n'
    assert world.outcome(text, ServerAnswer(status=200, body=b"OK\n")) == Accepted()
    dead = world.outcome(text, ServerAnswer(status=200, body=b"E1"))
    assert isinstance(dead, Rejected)
    assert dead.contact_is_dead


def test_a_repeat_is_seen_twice_unless_the_description_says_more(world: Adapters) -> None:
    assert world.adapter(JSON).capabilities.repeat is Repeat.VISIBLE
    keyed = JSON.replace("[request]", '[request]\nheaders = { Key = "{idempotency_key}" }')
    once = world.adapter('repeat = "deduplicated"\n' + keyed)
    assert once.capabilities.repeat is Repeat.DEDUPLICATED


def test_a_gateway_without_receipts_refuses_callbacks(world: Adapters) -> None:
    provider = world.adapter(JSON)
    assert not provider.capabilities.gives_receipts
    with pytest.raises(NoReceipts):
        provider.parse_receipt(callback())


def test_several_receipts_are_read_from_one_callback(world: Adapters) -> None:
    provider = world.adapter(JSON + CALLBACKS, CODES="dlr-3=rejected")
    about = {"parts": 2, "price": "0.0123", "currency": "USD"}
    found = provider.parse_receipt(
        callback(
            5,  # an unreadable entry costs no other entry
            report("SENT"),
            report("NEW_STATUS"),
            report("DELIVRD", **about),
            report("READ", price="1", currency="EUR"),
            report("UNDELIV"),
            *(report("UNDELIV", code=code) for code in (1, "2", 3)),
        )
    )
    lost = Receipt(
        kind=ReceiptKind.BOUNCED, delivery_id=DELIVERY, provider_message_id="m-1", code="dlr-3"
    )
    assert found == [
        replace(lost, kind=ReceiptKind.DELIVERED, code="", segments=2, price_micros=12300),
        replace(lost, kind=ReceiptKind.READ, code=""),
        replace(lost, kind=ReceiptKind.FAILED, code="dlr-UNDELIV"),
        replace(lost, code="dlr-1", contact_is_dead=True),
        replace(lost, code="dlr-2", has_opted_out=True),
        lost,
    ]


@pytest.mark.parametrize("reference", [None, "", "of another system", 5])
def test_a_foreign_reference_names_no_delivery(world: Adapters, reference: object) -> None:
    (receipt,) = world.adapter(JSON + CALLBACKS).parse_receipt(
        callback(report("DELIVRD", ref=reference, id="m\x00-1"))
    )
    assert isinstance(receipt, Receipt)
    assert (receipt.delivery_id, receipt.provider_message_id) == (None, "m-1")


@pytest.mark.parametrize(
    "body", [b"", b"{}", b"[]", b'{"reports": [{}]}', b'{"reports": [1]}', b'{"reports": null}']
)
def test_a_proven_callback_without_a_status_is_malformed(world: Adapters, body: bytes) -> None:
    request = replace(callback(), body=body)
    with pytest.raises(MalformedReceipt):
        world.adapter(JSON + CALLBACKS).parse_receipt(request)


def test_a_check_of_the_address_by_an_empty_list_is_taken(world: Adapters) -> None:
    provider = world.adapter(JSON + CALLBACKS.replace('each = "reports"\n', ""))
    assert list(provider.parse_receipt(replace(callback(), body=b"[]"))) == []


def own_address() -> str:
    token = hmac.new(SECRET.encode(), str(DELIVERY).encode(), "sha256").hexdigest()
    return f"{HERE}?delivery_id={DELIVERY}&token={token}"


OF_MESSAGES = JSON.replace("flash = false", 'flash = false, url = "{callback_url}"') + (
    CALLBACKS.replace('url = "account"\n', "")
)


def test_the_address_of_a_message_names_and_proves_the_delivery(world: Adapters) -> None:
    assert orjson.loads(world.request(OF_MESSAGES).body)["url"] == own_address()
    provider = world.adapter(OF_MESSAGES)
    other = report("DELIVRD", ref=str(UUID(int=8)))
    (receipt,) = provider.parse_receipt(callback(other, url=own_address()))
    assert isinstance(receipt, Receipt)
    assert receipt.delivery_id == DELIVERY, "the proof is of the address alone"
    with pytest.raises(MalformedReceipt, match="several entries"):
        provider.parse_receipt(callback(other, other, url=own_address()))


@pytest.mark.parametrize(
    "url",
    [
        HERE,
        f"{HERE}?token={SECRET}",
        own_address().replace(str(DELIVERY), str(UUID(int=8))),
        own_address()[:-1],
        f"{HERE}?delivery_id=&token=",
        f"{HERE}?delivery_id={DELIVERY}&token=ü",
    ],
)
def test_the_address_of_another_message_proves_nothing(world: Adapters, url: str) -> None:
    with pytest.raises(InvalidSignature):
        world.adapter(OF_MESSAGES).parse_receipt(callback(report("DELIVRD"), url=url))


@pytest.mark.parametrize("url", [HERE, f"{HERE}?token=", f"{HERE}?token={SECRET}x"])
def test_the_address_of_the_account_proves_with_its_secret(world: Adapters, url: str) -> None:
    with pytest.raises(InvalidSignature):
        world.adapter(JSON + CALLBACKS).parse_receipt(callback(report("DELIVRD"), url=url))


@pytest.mark.parametrize("encoding", ["hex", "base64"])
def test_a_signature_is_compared_with_the_body(world: Adapters, encoding: str) -> None:
    signed = (
        'signature = { header = "X-Sign", key = "token", algorithm = "sha512",'
        f' encoding = "{encoding}", prefix = "v1=" }}\n'
    )
    provider = world.adapter(JSON + CALLBACKS + signed)
    assert provider.capabilities.receipt_headers == frozenset({"x-sign"})
    request = callback(report("DELIVRD"), url=HERE)
    digest = hmac.digest(b"a/b", request.body, "sha512")
    text = digest.hex() if encoding == "hex" else b64encode(digest).decode()
    signed_request = replace(request, headers={"x-sign": f"v1={text}"})
    assert len(provider.parse_receipt(signed_request)) == 1
    for wrong in ({}, {"x-sign": text}, {"x-sign": "v1="}):
        with pytest.raises(InvalidSignature):
            provider.parse_receipt(replace(request, headers=wrong))
    with pytest.raises(InvalidSignature):
        provider.parse_receipt(replace(signed_request, body=request.body + b" "))


def test_a_check_reads_the_page_of_the_account(world: Adapters, server: AnsweringFake) -> None:
    text = JSON + '[check]\npath = "/me?key={token}"\nbalance = "b.left"\ncurrency = "b.unit"\n'
    headers = 'headers = { X-Key = "k/{token}", X-Id = "{delivery_id}" }'
    provider = world.adapter(text.replace("[request]", f"[request]\n{headers}"))
    server.answer = answer({"b": {"left": "12.5", "unit": "EUR"}})
    assert list(provider.check(deadline=PATIENCE)) == [
        Finding(subject="credentials", is_good=True, detail="signed in"),
        Finding(subject="quota", is_good=True, detail="balance 12.50 EUR"),
    ]
    (request,) = server.requests
    assert request.target == "/me?key=a%2Fb"
    assert (request.headers["x-key"], "x-id" in request.headers) == ("k/a/b", False)
    server.answer = ServerAnswer(status=401)
    (finding,) = provider.check(deadline=PATIENCE)
    assert (finding.subject, finding.is_good) == ("credentials", False)
    assert list(world.adapter(JSON).check(deadline=PATIENCE)) == []
