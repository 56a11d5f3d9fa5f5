"""Every preset against the requests, answers and callbacks of its vendor's documents."""

from __future__ import annotations

import hmac
from collections.abc import Iterator
from contextlib import closing
from dataclasses import replace
from datetime import timedelta
from typing import Any
from urllib.parse import parse_qsl

import orjson
import pytest

from providers import registry, verdicts
from providers.conformance import Act
from providers.contract import (
    Accepted,
    Channel,
    Message,
    Misconfigured,
    Provider,
    Receipt,
    ReceiptRequest,
    Rejected,
    Throttled,
    Unavailable,
)
from providers.errors import InvalidSignature
from providers.sandbox_server.wire import ServerAnswer, ServerRequest
from providers.sms.gateways import description, vendors
from providers.transport import Transport
from providers.verdicts import Verdict
from tests.providers.answering import AnsweringFake
from tests.providers.messages import message
from tests.providers.sms.gateways import regional_presets, world_presets
from tests.providers.sms.gateways.preset_case import (
    CALLBACK,
    DELIVERY,
    DIGITS,
    NUMBER,
    PUBLIC,
    SECRET,
    TEXT,
    PresetCase,
    Reported,
)
from tests.providers.trying import outcomes

CASES = world_presets.CASES | regional_presets.CASES
FILES = {file.stem: file for file in vendors.PRESETS.glob("*.toml")}
VENDORS = {each.name: each for each in registry.VENDORS}
REFUSALS = [
    pytest.param(name, refused, verdict, id=f"{name} {refused.status} {verdict} {number}")
    for name, case in CASES.items()
    for number, (refused, verdict) in enumerate(case.refusals)
]
REPORTS = [
    pytest.param(name, report, id=f"{name} {report.says}")
    for name, case in CASES.items()
    for report in case.reports
]


@pytest.fixture(scope="module")
def shared() -> Iterator[Transport]:
    with closing(Transport()) as it:
        yield it


def _unset(_act: Act, _request: ServerRequest) -> ServerAnswer:
    return ServerAnswer(status=500)


@pytest.fixture(scope="module")
def server() -> Iterator[AnsweringFake]:
    with closing(AnsweringFake(_unset, key=str)) as it:
        yield it


def adapter(name: str, server: AnsweringFake, transport: Transport) -> Provider:
    case, described = CASES[name], description.load(FILES[name])
    settings = {f"NOTIFY_{name.upper()}_{key}": text for key, text in case.settings.items()}
    settings |= {f"NOTIFY_{name.upper()}_URL": server.origin, "NOTIFY_PUBLIC_URL": PUBLIC}
    if described.receipts is not None and described.receipts.signature is None:
        settings[f"NOTIFY_{name.upper()}_CALLBACK_SECRET"] = SECRET
    return VENDORS[name].configure(settings, transport=transport)


def sms() -> Message:
    plain = message(NUMBER, Channel.SMS, body=TEXT)
    return replace(plain, delivery_id=DELIVERY, time_to_live=timedelta(minutes=5))


def body_of(request: ServerRequest) -> Any:  # noqa: ANN401 - JSON
    if request.headers["content-type"] == "application/json":
        return orjson.loads(request.body)
    return dict(parse_qsl(request.body.decode()))


def address(name: str) -> str:
    """The address of the receipts of the delivery."""
    described = description.load(FILES[name]).receipts
    url = f"{PUBLIC}/v1/receipts/{name}"
    if described is None or described.signature is not None:
        return url
    if described.url == "account":
        return f"{url}?token={SECRET}"
    token = hmac.new(SECRET.encode(), str(DELIVERY).encode(), "sha256").hexdigest()
    return f"{url}?delivery_id={DELIVERY}&token={token}"


def callback(name: str, report: Reported) -> ReceiptRequest:
    key = CASES[name].settings.get("SECRET_KEY", "")
    signature = hmac.new(key.encode(), report.body, "sha512").hexdigest() if key else ""
    url, body = address(name), report.body
    if report.is_query:
        url, body = f"{url}&{body.decode()}", b""
    return ReceiptRequest(url=url, headers={"x-termii-signature": signature}, body=body)


def said(receipt: Receipt) -> str:
    marks = (" dead" * receipt.contact_is_dead) + (" opted out" * receipt.has_opted_out)
    return f"{receipt.kind}{marks}"


def test_each_preset_has_its_documents() -> None:
    assert set(CASES) == set(FILES)


@pytest.mark.parametrize("name", FILES)
def test_a_preset_names_its_documents_and_the_day(name: str) -> None:
    head = FILES[name].read_text().partition("title =")[0]
    assert head.startswith("# Written on 20")
    assert "https://" in head
    assert "without an account" in head


@pytest.mark.parametrize("name", CASES)
def test_the_request_and_the_answer_are_as_documented(
    name: str, server: AnsweringFake, shared: Transport
) -> None:
    case = CASES[name]
    server.requests.clear()
    server.answer = case.taken
    (outcome,) = outcomes(adapter(name, server, shared), sms())
    assert outcome == Accepted(message_id=case.message_id, segments=case.segments)
    (request,) = server.requests
    assert (request.method, request.target) == ("POST", case.target)
    assert {key: request.headers[key] for key in case.headers} == case.headers
    assert body_of(request) == expected_body(name, case)


def expected_body(name: str, case: PresetCase) -> Any:  # noqa: ANN401 - JSON
    return orjson.loads(orjson.dumps(case.body).replace(CALLBACK.encode(), address(name).encode()))


@pytest.mark.parametrize(("name", "refused", "verdict"), REFUSALS)
def test_each_documented_refusal_has_its_outcome(
    name: str, refused: ServerAnswer, verdict: Verdict, server: AnsweringFake, shared: Transport
) -> None:
    server.answer = refused
    (outcome,) = outcomes(adapter(name, server, shared), sms())
    assert isinstance(outcome, Rejected | Misconfigured | Throttled | Unavailable)
    wait = getattr(outcome, "retry_after", None)
    assert outcome == verdicts.outcome(
        verdict, code=outcome.code, detail=outcome.detail, retry_after=wait
    )
    assert DIGITS not in repr(outcome)


@pytest.mark.parametrize("name", CASES)
def test_enough_refusals_are_documented(name: str) -> None:
    assert len({verdict for _answer, verdict in CASES[name].refusals}) >= 3
    assert len(CASES[name].refusals) >= 4


@pytest.mark.parametrize(("name", "report"), REPORTS)
def test_each_documented_callback_has_its_meaning(
    name: str, report: Reported, server: AnsweringFake, shared: Transport
) -> None:
    provider = adapter(name, server, shared)
    found = list(provider.parse_receipt(callback(name, report)))
    if report.says == "on its way":
        assert found == []
        return
    (receipt,) = found
    assert isinstance(receipt, Receipt)
    assert said(receipt) == report.says.removesuffix(" misconfigured")
    assert receipt.provider_message_id == report.message_id
    assert receipt.delivery_id == (DELIVERY if report.names_delivery else None)


@pytest.mark.parametrize("name", [name for name, case in CASES.items() if case.reports])
def test_a_callback_without_the_proof_is_refused(
    name: str, server: AnsweringFake, shared: Transport
) -> None:
    provider = adapter(name, server, shared)
    proven = callback(name, CASES[name].reports[0])
    changed = proven.url.replace("token=", "token=x")
    for url in (changed, changed.replace("token=", "other=")):
        with pytest.raises(InvalidSignature):
            provider.parse_receipt(replace(proven, url=url, headers={}))
