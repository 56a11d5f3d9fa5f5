"""SNS as a way to send texts: the contract, the bytes, each code, and moto as a second opinion."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import closing
from typing import Any

import pytest
from botocore.awsrequest import AWSRequest
from botocore.serialize import create_serializer

from providers import conformance, registry, verdicts
from providers.aws import faults
from providers.conformance import Subject
from providers.contract import Accepted, Channel, Outcome
from providers.sandbox_server.wire import ServerAnswer
from providers.sms import aws_sns
from providers.sms.aws_sns import VENDOR, AwsSns, Config
from providers.transport import Transport
from tests.providers.aws.fakes import (
    ACCOUNT,
    KEY_ID,
    SECRET,
    AwsFake,
    SnsSpeaker,
    environ,
    model,
    xml_answer,
)
from tests.providers.aws.moto_server import client, moto
from tests.providers.messages import message
from tests.providers.trying import PATIENCE, complaint, outcomes

NUMBER = "+14155550100"
ENVIRON = environ("AWS_SNS") | {"NOTIFY_AWS_SNS_TRAFFIC": "promotional"}
CHECKS = [
    check
    for check in conformance.CHECKS
    # Publish has no field that would carry a key, and SNS gives nothing back to know one by.
    if check is not conformance.checks.keeps_the_key_on_every_try
]


@pytest.fixture
def server() -> Iterator[AwsFake]:
    with closing(AwsFake(SnsSpeaker())) as it:
        yield it


@pytest.fixture
def provider(server: AwsFake, transport: Transport) -> AwsSns:
    return made(server.url, transport)


def made(url: str, transport: Transport, **changed: Any) -> AwsSns:  # noqa: ANN401 - any setting
    return AwsSns(Config(**{**ACCOUNT, "endpoint": url, **changed}), transport=transport)


def outcome(provider: AwsSns, text: str = "Your code is 123456.") -> Outcome:
    (found,) = outcomes(provider, message(NUMBER, Channel.SMS, body=text))
    return found


@pytest.mark.parametrize("check", CHECKS, ids=lambda check: check.__name__)
def test_sns_keeps_the_contract(
    check: Callable[[Subject], None], server: AwsFake, provider: AwsSns
) -> None:
    check(
        Subject(
            provider=provider,
            server=server,
            channel=Channel.SMS,
            address=NUMBER,
            secrets=[SECRET, KEY_ID],
        )
    )


def by_boto(attributes: dict[str, tuple[str, str]], *, text: str) -> bytes:
    """The body that boto3 would have sent for these arguments."""
    arguments = {
        "PhoneNumber": NUMBER,
        "Message": text,
        "MessageAttributes": {
            f"AWS.SNS.SMS.{name}": {"DataType": kind, "StringValue": value}
            for name, (kind, value) in attributes.items()
        },
    }
    serialized = create_serializer("query").serialize_to_request(
        arguments, model("sns").operation_model("Publish")
    )
    prepared = AWSRequest("POST", "http://x/", data=serialized["body"]).prepare()
    body: bytes | str = prepared.body
    return body if isinstance(body, bytes) else body.encode()


def test_the_body_is_byte_for_byte_what_boto3_sends(server: AwsFake, transport: Transport) -> None:
    text = "Grüße & 100 % = 1+1 ~ *\n'\"€"
    provider = made(server.url, transport, sender_id="SHOP", max_price="0.25")
    outcome(provider, text)
    outcome(made(server.url, transport), text)
    kind = ("String", "Transactional")
    full = {"SMSType": kind, "SenderID": ("String", "SHOP"), "MaxPrice": ("Number", "0.25")}
    bodies = [request.body for request in server.requests]
    assert bodies == [by_boto(full, text=text), by_boto({"SMSType": kind}, text=text)]


@pytest.mark.parametrize("code", sorted(aws_sns.TABLE))
def test_each_code_means_what_the_table_says(server: AwsFake, provider: AwsSns, code: str) -> None:
    server.answer = lambda _request: SnsSpeaker.error(code, message="a &lt;why&gt;")
    assert outcome(provider) == verdicts.outcome(aws_sns.TABLE[code], code=code, detail="a <why>")


def test_the_tables_rows_are_all_of_the_models_codes() -> None:
    shapes = model("sns").operation_model("Publish").error_shapes
    named = {shape.metadata["error"].get("code", shape.name) for shape in shapes}
    assert named | {"OptedOut", "Throttled"} == aws_sns.TABLE.keys() - faults.COMMON.keys()


def test_a_yes_without_an_id_is_a_yes(server: AwsFake, provider: AwsSns) -> None:
    server.answer = lambda _request: ServerAnswer(status=200, body=b"\xff")
    assert outcome(provider) == Accepted()


def test_check_tells_limit_and_sandbox(server: AwsFake, provider: AwsSns) -> None:
    limit = "<entry><key>MonthlySpendLimit</key><value>50</value></entry>"

    def answer(request: object) -> ServerAnswer:
        asked = b"GetSMSAttributes" in getattr(request, "body", b"")
        return xml_answer(limit if asked else "<IsInSandbox>true</IsInSandbox>")

    server.answer = answer
    found = {
        (each.subject, each.is_good): each.detail for each in provider.check(deadline=PATIENCE)
    }
    assert found == {
        ("credentials", True): "accepted",
        ("quota", True): "50 US dollars a month at most",
        ("account", False): "in the sandbox: texts go to verified numbers only",
    }


@pytest.mark.parametrize(
    ("setting", "text"),
    [
        ("NOTIFY_AWS_SNS_REGION", ""),
        ("NOTIFY_AWS_SNS_SECRET_ACCESS_KEY", ""),
        ("NOTIFY_AWS_SNS_SENDER_ID", "hunter 2"),
        ("NOTIFY_AWS_SNS_TRAFFIC", "hunter2"),
        ("NOTIFY_AWS_SNS_MAX_PRICE", "1"),
    ],
)
def test_a_wrong_setting_is_named_at_start(setting: str, text: str) -> None:
    assert set(registry.build_all(ENVIRON)) == {"aws_sns"}
    assert complaint(VENDOR, ENVIRON | {setting: text}).startswith(f"{setting}: ")


def test_moto_takes_what_we_send_and_boto3_reads_it_back(transport: Transport) -> None:
    url = moto()
    found = outcome(made(url, transport, sender_id="SHOP"))
    assert isinstance(found, Accepted)
    assert found.message_id
    client("sns", url).set_sms_attributes(attributes={"MonthlySpendLimit": "7"})
    said = [each.detail for each in made(url, transport).check(deadline=PATIENCE)]
    assert "7 US dollars a month at most" in said
