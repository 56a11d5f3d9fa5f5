"""End User Messaging: the contract, the call, each code, and events posted by SNS."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import closing
from datetime import UTC, datetime, timedelta
from typing import Any
from uuid import UUID

import orjson
import pytest
from botocore.serialize import create_serializer

from providers import conformance, registry, verdicts
from providers.aws import faults
from providers.conformance import Subject
from providers.contract import (
    Channel,
    InboundText,
    Keyword,
    Outcome,
    Receipt,
    ReceiptKind,
    Rejected,
    Unavailable,
)
from providers.errors import InvalidSignature, MalformedReceipt, NoReceipts
from providers.sandbox_server.wire import ServerAnswer, ServerRequest
from providers.sms import aws_eum
from providers.sms.aws_eum import VENDOR, AwsEum, Config
from providers.sms.aws_eum_events import DEAD, KINDS, parse
from providers.sms.aws_eum_events import DELIVERY as CONTEXT_KEY
from providers.transport import Transport
from tests.providers.aws.fakes import (
    ACCOUNT,
    KEY_ID,
    SECRET,
    TOPIC,
    AwsFake,
    EumSpeaker,
    environ,
    json_answer,
    model,
)
from tests.providers.aws.signed_posts import Signer, SnsServer, request
from tests.providers.messages import message
from tests.providers.trying import PATIENCE, complaint, outcomes

NUMBER = "+14155550100"
SERVICE = "pinpoint-sms-voice-v2"
ENVIRON = environ("AWS_EUM") | {"NOTIFY_AWS_EUM_TOPICS": TOPIC}
SNS = Signer()
DELIVERY = UUID(int=7)


@pytest.fixture
def server() -> Iterator[AwsFake]:
    with closing(AwsFake(EumSpeaker())) as it:
        yield it


@pytest.fixture
def provider(server: AwsFake, transport: Transport) -> AwsEum:
    return made(server.url, transport)


def made(url: str, transport: Transport, **changed: Any) -> AwsEum:  # noqa: ANN401 - any setting
    return AwsEum(Config(**{**ACCOUNT, "endpoint": url, **changed}), transport=transport)


def outcome(provider: AwsEum, **changed: Any) -> Outcome:  # noqa: ANN401 - any field
    (found,) = outcomes(provider, message(NUMBER, Channel.SMS, **changed))
    return found


@pytest.mark.parametrize("check", conformance.CHECKS, ids=lambda check: check.__name__)
def test_end_user_messaging_keeps_the_contract(
    check: Callable[[Subject], None], server: AwsFake, provider: AwsEum
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


def test_the_call_is_what_boto3_makes_of_the_same_arguments(
    server: AwsFake, transport: Transport
) -> None:
    provider = made(
        server.url, transport, origination="pool-1", configuration_set="notify", max_price="0.25"
    )
    text = message(NUMBER, Channel.SMS, body="Grüße €")
    list(provider.send([text], deadline=PATIENCE))
    (seen,) = server.requests
    operation = model(SERVICE).operation_model("SendTextMessage")
    expected = create_serializer("json").serialize_to_request(
        {
            "DestinationPhoneNumber": NUMBER,
            "MessageBody": "Grüße €",
            "TimeToLive": 86_400,
            "Context": {"delivery_id": str(text.delivery_id)},
            "OriginationIdentity": "pool-1",
            "MessageType": "TRANSACTIONAL",
            "ConfigurationSetName": "notify",
            "MaxPrice": "0.25",
        },
        operation,
    )
    assert orjson.loads(seen.body) == orjson.loads(expected["body"])
    for name in ("X-Amz-Target", "Content-Type"):
        assert seen.headers[name.lower()] == expected["headers"][name]


@pytest.mark.parametrize(
    ("left", "seconds"),
    [
        (timedelta(seconds=1), 5),
        (timedelta(seconds=300.7), 300),
        (timedelta(days=9), 259_200),
    ],
)
def test_the_time_to_live_goes_along_within_its_bounds(
    server: AwsFake, provider: AwsEum, left: timedelta, seconds: int
) -> None:
    outcome(provider, time_to_live=left)
    assert orjson.loads(server.requests[0].body)["TimeToLive"] == seconds


REASONS = {
    reason: shape.removesuffix("Reason")
    for shape in (
        "ConflictExceptionReason",
        "ServiceQuotaExceededExceptionReason",
        "AccessDeniedExceptionReason",
        "ValidationExceptionReason",
    )
    for reason in model(SERVICE).shape_for(shape).enum
}


@pytest.mark.parametrize("code", sorted(aws_eum.TABLE))
def test_each_code_means_what_the_table_says(server: AwsFake, provider: AwsEum, code: str) -> None:
    kind, reason = (REASONS[code], code) if code in REASONS else (code, "")
    server.answer = lambda _request: EumSpeaker.error(kind, reason=reason)
    assert outcome(provider) == verdicts.outcome(aws_eum.TABLE[code], code=code, detail="why")


def test_the_tables_rows_are_codes_and_reasons_of_the_model() -> None:
    shapes = model(SERVICE).operation_model("SendTextMessage").error_shapes
    named = {shape.name for shape in shapes}
    own = aws_eum.TABLE.keys() - faults.COMMON.keys()
    assert own <= named | REASONS.keys()
    assert named <= aws_eum.TABLE.keys()


def test_a_reason_that_the_table_lacks_goes_by_its_exception(
    server: AwsFake, provider: AwsEum
) -> None:
    server.answer = lambda _request: EumSpeaker.error("ValidationException", reason="NEW")
    assert outcome(provider) == Rejected(code="ValidationException", detail="why")
    server.answer = lambda _request: EumSpeaker.error("NewException", status=500)
    assert outcome(provider) == Unavailable(code="NewException", detail="why")


def test_check_tells_limit_and_tier(server: AwsFake, provider: AwsEum) -> None:
    limit = {"Name": "TEXT_MESSAGE_MONTHLY_SPEND_LIMIT", "EnforcedLimit": 1, "MaxLimit": 9}
    other = {"Name": "VOICE_MESSAGE_MONTHLY_SPEND_LIMIT", "EnforcedLimit": 0, "MaxLimit": 0}
    answers = {
        "PinpointSMSVoiceV2.DescribeSpendLimits": {"SpendLimits": [other, limit]},
        "PinpointSMSVoiceV2.DescribeAccountAttributes": {
            "AccountAttributes": [{"Name": "ACCOUNT_TIER", "Value": "SANDBOX"}]
        },
    }

    def answer(seen: ServerRequest) -> ServerAnswer:
        return json_answer(answers[seen.headers["x-amz-target"]])

    server.answer = answer
    found = {
        (each.subject, each.is_good): each.detail for each in provider.check(deadline=PATIENCE)
    }
    assert found == {
        ("credentials", True): "accepted",
        ("quota", True): "1 US dollars a month, AWS allows 9",
        ("account", False): "in the sandbox: texts go to verified numbers only",
    }


@pytest.mark.parametrize(
    ("setting", "text"),
    [
        ("NOTIFY_AWS_EUM_REGION", "hunter2"),
        ("NOTIFY_AWS_EUM_ACCESS_KEY_ID", ""),
        ("NOTIFY_AWS_EUM_ORIGINATION", "hunter 2"),
        ("NOTIFY_AWS_EUM_TOPICS", "hunter2"),
        ("NOTIFY_AWS_EUM_TRAFFIC", "hunter2"),
    ],
)
def test_a_wrong_setting_is_named_at_start(setting: str, text: str) -> None:
    assert registry.build_all(ENVIRON)["aws_eum"].capabilities.gives_receipts
    assert complaint(VENDOR, ENVIRON | {setting: text}).startswith(f"{setting}: ")


# Events


def event(kind: str, **changed: Any) -> str:  # noqa: ANN401 - JSON
    said = {
        "eventType": kind,
        "eventVersion": "1.0",
        "eventTimestamp": 1_774_785_600_250,
        "isFinal": True,
        "destinationPhoneNumber": NUMBER,
        "messageId": "eum-1",
        "messageStatusDescription": f"Phone {NUMBER} is what it is",
        "context": {CONTEXT_KEY: str(DELIVERY)},
    }
    return orjson.dumps(said | changed).decode()


def receipts(text: str) -> list[Receipt]:
    return [each for each in parse(text) if isinstance(each, Receipt)]


@pytest.fixture
def sns() -> Iterator[SnsServer]:
    with closing(SnsServer(SNS)) as it:
        yield it


def test_a_signed_event_becomes_a_receipt_each_time_it_comes(sns: SnsServer) -> None:
    provider = made("", sns, topics=frozenset({TOPIC}))
    post = request(SNS.post(event("TEXT_INVALID")))
    expected = Receipt(
        kind=ReceiptKind.BOUNCED,
        delivery_id=DELIVERY,
        provider_message_id="eum-1",
        occurred_at=datetime(2026, 3, 29, 12, 0, 0, 250_000, tzinfo=UTC),
        code="TEXT_INVALID",
        detail="Phone [address] is what it is",
        contact_is_dead=True,
    )
    assert [list(provider.parse_receipt(post)) for _ in range(2)] == [[expected]] * 2


@pytest.mark.parametrize(
    ("price", "fee", "micros"),
    [
        (0.09582, 0.0, 95_820),
        (0.00581, 0.003, 8_810),
        (0.00581, None, 5_810),
        (0, 0, 0),
        (None, 0.003, None),
        (-0.1, 0, None),
        (0.1, -0.2, None),
        ("NaN", 0, None),
        ("Infinity", 0, None),
        (1e300, 0, None),
        (True, 0, None),
        ([], {}, None),
    ],
)
def test_an_event_has_the_price_and_the_parts(price: object, fee: object, micros: object) -> None:
    costs = {"totalMessagePrice": price, "totalCarrierFee": fee, "totalMessageParts": 2}
    [found] = receipts(event("TEXT_DELIVERED", **costs))
    assert (found.price_micros, found.segments) == (micros, 2)


REPLY = {
    "originationNumber": NUMBER,
    "destinationNumber": "+15005550006",
    "messageKeyword": "KEYWORD_15005550006",
    "messageBody": "Stop",
    "previousPublishedMessageId": "eum-1",
    "inboundMessageId": "in-1",
}
"""As the User Guide shows a two-way message."""


def test_a_text_from_a_person_is_read(sns: SnsServer) -> None:
    provider = made("", sns, topics=frozenset({TOPIC}))
    (text,) = provider.parse_receipt(request(SNS.post(orjson.dumps(REPLY).decode())))
    assert text == InboundText(
        from_address=NUMBER,
        to_address="+15005550006",
        text="Stop",
        provider_message_id="in-1",
    )


@pytest.mark.parametrize(
    ("said", "keyword"),
    [("STOP", Keyword.STOP), ("help", Keyword.HELP), ("JOIN", None), (None, None)],
)
def test_the_keyword_that_aws_found_decides(said: str | None, keyword: Keyword | None) -> None:
    (text,) = parse(orjson.dumps(REPLY | {"messageKeyword": said}).decode())
    assert isinstance(text, InboundText)
    assert text.keyword is keyword


def test_a_text_that_lacks_a_number_is_malformed() -> None:
    said = {name: value for name, value in REPLY.items() if name != "originationNumber"}
    with pytest.raises(MalformedReceipt):
        parse(orjson.dumps(said).decode())


def test_a_forged_event_is_not_read(sns: SnsServer) -> None:
    post = SNS.post(event("TEXT_DELIVERED")) | {"Message": event("TEXT_INVALID")}
    with pytest.raises(InvalidSignature):
        made("", sns, topics=frozenset({TOPIC})).parse_receipt(request(post))


def test_without_topics_there_are_no_receipts(sns: SnsServer) -> None:
    with pytest.raises(NoReceipts):
        made("", sns).parse_receipt(request(SNS.post(event("TEXT_DELIVERED"))))


def test_a_subscription_confirms_itself_and_holds_no_receipt(sns: SnsServer) -> None:
    provider = made("", sns, topics=frozenset({TOPIC}))
    post = SNS.post("hello", kind="SubscriptionConfirmation")
    assert list(provider.parse_receipt(request(post))) == []
    assert len(sns.fetched) == 2


@pytest.mark.parametrize("text", ["hello", "[]", "{}", '{"eventType": "TEXT_DELIVERED"}'])
def test_a_signed_text_that_is_no_event_is_malformed(sns: SnsServer, text: str) -> None:
    provider = made("", sns, topics=frozenset({TOPIC}))
    with pytest.raises(MalformedReceipt):
        provider.parse_receipt(request(SNS.post(text)))


@pytest.mark.parametrize("kind", sorted(KINDS))
def test_each_kind_of_event_means_what_the_table_says(kind: str) -> None:
    found = [(receipt.kind, receipt.contact_is_dead) for receipt in receipts(event(kind))]
    expected = KINDS[kind]
    assert found == ([] if expected is None else [(expected, kind in DEAD)])


def test_the_table_has_every_kind_that_is_about_texts() -> None:
    kinds = set(model(SERVICE).shape_for("EventType").enum)
    assert {kind for kind in kinds if kind.startswith("TEXT_")} - {"TEXT_ALL"} == KINDS.keys()


def test_a_success_that_is_not_final_is_no_receipt_yet() -> None:
    assert receipts(event("TEXT_SUCCESSFUL", isFinal=False)) == []
    assert receipts(event("VOICE_COMPLETED")) == []


@pytest.mark.parametrize("context", [None, {}, {CONTEXT_KEY: "theirs"}])
def test_without_our_context_the_receipt_has_the_vendors_own_id(context: object) -> None:
    (receipt,) = receipts(event("TEXT_DELIVERED", context=context))
    assert (receipt.delivery_id, receipt.provider_message_id) == (None, "eum-1")
