"""AWS End User Messaging (`pinpoint-sms-voice-v2`): text messages with receipts and a time to live.

    NOTIFY_AWS_EUM_REGION=eu-west-1
    NOTIFY_AWS_EUM_CONFIGURATION_SET=notify     destination of events
    NOTIFY_AWS_EUM_TOPICS=arn:aws:sns:...       trusted topics of events

Events come through SNS: subscribe the receipts URL to the topic of the set's event destination; the
provider confirms the subscription. Each message carries the delivery id in the Context, and every
event repeats the Context. The API has no idempotency key: a message without an answer may be sent
twice.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import timedelta
from typing import Any, Final

import orjson

from providers import clock, configuration, verdicts
from providers.aws import faults, settings, texts
from providers.aws.faults import Judge
from providers.aws.service import Api, AwsCall, AwsService, Question
from providers.aws.texts import Traffic
from providers.aws.topics import SNS_HEADERS, Topics
from providers.configuration import parse_with
from providers.contract import (
    Accepted,
    Capabilities,
    Channel,
    Finding,
    InboundText,
    Message,
    Outcome,
    Receipt,
    ReceiptRequest,
    Repeat,
    Result,
)
from providers.errors import NoReceipts
from providers.sms import aws_eum_events
from providers.transport import Response, Transport
from providers.vendor import Vendor
from providers.verdicts import Verdict

NAME: Final = "aws_eum"

API: Final = Api(
    host="sms-voice", signing_name="sms-voice", content_type="application/x-amz-json-1.0"
)

SHORTEST_LIFE: Final = timedelta(seconds=5)
LONGEST_LIFE: Final = timedelta(hours=72)
"""Source: service model, TimeToLive."""

TABLE: Final[verdicts.Table] = {
    **faults.COMMON,
    # Errors of SendTextMessage. Source: service model 2022-03-31, as all below. A finer reason, if
    # the table has it, wins over these.
    "AccessDeniedException": Verdict.MISCONFIGURED,
    "ConflictException": Verdict.MISCONFIGURED,
    "InternalServerException": Verdict.UNAVAILABLE,
    "ResourceNotFoundException": Verdict.MISCONFIGURED,
    "ServiceQuotaExceededException": Verdict.MISCONFIGURED,
    "ThrottlingException": Verdict.THROTTLED,
    "ValidationException": Verdict.REJECTED,
    # ConflictExceptionReason: about the recipient, or about the account's setup.
    "DESTINATION_PHONE_NUMBER_OPTED_OUT": Verdict.OPTED_OUT,
    # An operator blocked these on purpose: another provider must not get round that.
    "DESTINATION_COUNTRY_BLOCKED_BY_PROTECT_CONFIGURATION": Verdict.REJECTED,
    "DESTINATION_PHONE_NUMBER_BLOCKED_BY_PROTECT_NUMBER_OVERRIDE": Verdict.REJECTED,
    "DESTINATION_PHONE_NUMBER_NOT_VERIFIED": Verdict.IN_SANDBOX,  # AWS's sandbox
    "MESSAGE_TYPE_MISMATCH": Verdict.MISCONFIGURED,
    "NO_ORIGINATION_IDENTITIES_FOUND": Verdict.REJECTED_HERE,  # none for this country
    "NUMBER_CAPABILITIES_MISMATCH": Verdict.MISCONFIGURED,
    "RESOURCE_NOT_ACTIVE": Verdict.MISCONFIGURED,
    # ServiceQuotaExceededExceptionReason.
    "MONTHLY_SPEND_LIMIT_REACHED_FOR_TEXT": Verdict.MISCONFIGURED,
    # AccessDeniedExceptionReason.
    "ACCOUNT_DISABLED": Verdict.MISCONFIGURED,
    "INSUFFICIENT_ACCOUNT_REPUTATION": Verdict.MISCONFIGURED,
    # ValidationExceptionReason, as far as a text can cause them. What depends on the country
    # concerns this message alone, and another provider may serve that country.
    "CANNOT_PARSE": Verdict.REJECTED,
    "CHANNEL_NOT_ENABLED": Verdict.MISCONFIGURED,
    "COUNTRY_CODE_MISMATCH": Verdict.REJECTED_HERE,
    "COUNTRY_NOT_ENABLED": Verdict.REJECTED_HERE,
    "DESTINATION_COUNTRY_BLOCKED": Verdict.REJECTED_HERE,
    "FIELD_VALIDATION_FAILED": Verdict.REJECTED,
    "INTERNATIONAL_SENDING_NOT_SUPPORTED": Verdict.REJECTED_HERE,
    "INVALID_ARN": Verdict.MISCONFIGURED,
    "INVALID_IDENTITY_FOR_DESTINATION_COUNTRY": Verdict.REJECTED_HERE,
    "INVALID_PARAMETER": Verdict.REJECTED,
    "INVALID_REQUEST": Verdict.REJECTED,
    "MAXIMUM_SIZE_EXCEEDED": Verdict.REJECTED,
    "MISSING_PARAMETER": Verdict.REJECTED,
    "OTHER": Verdict.REJECTED,
    "PARAMETERS_CANNOT_BE_USED_TOGETHER": Verdict.MISCONFIGURED,
    "PRICE_OVER_THRESHOLD": Verdict.REJECTED_HERE,
    "RESOURCE_NOT_ACCESSIBLE": Verdict.MISCONFIGURED,
    "SENDER_ID_NOT_REGISTERED": Verdict.REJECTED_HERE,
    "SENDER_ID_NOT_SUPPORTED": Verdict.REJECTED_HERE,
    "SENDER_ID_REQUIRES_REGISTRATION": Verdict.REJECTED_HERE,
    "UNKNOWN_OPERATION": Verdict.MISCONFIGURED,
    "UNSPECIFIED_PARAMETER_NOT_SUPPORTED": Verdict.MISCONFIGURED,
}


@dataclass(frozen=True, slots=True, kw_only=True)
class Config(settings.Account):
    """Settings `NOTIFY_AWS_EUM_*`."""

    origination: str = field(default="", metadata=parse_with(settings.name))
    """A number, sender id or pool; empty: AWS takes a fitting identity of the account."""
    configuration_set: str = field(default="", metadata=parse_with(settings.name))
    """Configuration set whose events are receipts; empty: no receipts."""
    topics: frozenset[str] = field(default=frozenset(), metadata=parse_with(settings.topics))
    """ARNs of the trusted SNS topics of events; none: no receipts."""
    allow_sha1: bool = field(default=False, metadata=parse_with(configuration.yes_no))
    """`yes`: topics may sign with SignatureVersion 1, which is SHA-1."""
    traffic: Traffic = field(default=Traffic.TRANSACTIONAL, metadata=parse_with(texts.traffic))
    """`TRANSACTIONAL` or `PROMOTIONAL`."""
    max_price: str = field(default="", metadata=parse_with(settings.price))
    """US dollars for each part; AWS does not send a message above the price."""
    per_second: int = field(
        default=texts.PER_SECOND, metadata=parse_with(configuration.positive_number)
    )
    """Rate of the number or pool that sends: AWS limits each kind of number."""


class AwsEum:
    """See `providers.contract.Provider`."""

    name: Final = NAME

    def __init__(
        self, config: Config, *, transport: Transport, now: clock.Clock = clock.now
    ) -> None:
        """Store the settings; the first `send` connects."""
        judge = Judge(table=TABLE, overrides=config.codes)
        self._service = AwsService(config, api=API, judge=judge, transport=transport, now=now)
        self._topics = Topics(
            config.topics, transport=transport, allow_sha1=config.allow_sha1, now=now
        )
        chosen = {
            "OriginationIdentity": config.origination,
            "MessageType": config.traffic,
            "ConfigurationSetName": config.configuration_set,
            "MaxPrice": config.max_price,
        }
        self._common = {name: value for name, value in chosen.items() if value}
        self.capabilities = Capabilities(
            channels=frozenset({Channel.SMS}),
            repeat=Repeat.VISIBLE,
            gives_receipts=bool(config.topics),
            receipt_headers=SNS_HEADERS,
            pace=texts.pace(config.per_second),
        )

    def send(self, batch: Sequence[Message], *, deadline: timedelta) -> Iterator[Result]:
        """See `providers.contract.Provider.send`."""
        return texts.send_each(
            self._service, batch, write=self._text, read=_outcomes_of_success, deadline=deadline
        )

    def parse_receipt(self, request: ReceiptRequest) -> Sequence[Receipt | InboundText]:
        """See `providers.contract.Provider.parse_receipt`.

        Raises:
            InvalidSignature: SNS did not sign the post, or the topic is not in the list.
            CannotVerify: SNS's certificate is unavailable now.
            MalformedReceipt: the signed post is no event of a text message.
            NoReceipts: no topic is set.
        """
        if not self.capabilities.gives_receipts:
            raise NoReceipts(self.name)
        event = self._topics.open(request)
        return [] if event is None else aws_eum_events.parse(event)

    def check(self, *, deadline: timedelta) -> Iterator[Finding]:
        """See `providers.contract.Provider.check`."""
        questions = [
            Question(call=_call("DescribeSpendLimits", {}), read=_quota),
            Question(call=_call("DescribeAccountAttributes", {}), read=_tier),
        ]
        yield from self._service.ask(questions, deadline=deadline)

    def _text(self, message: Message) -> AwsCall:
        life = min(max(message.time_to_live, SHORTEST_LIFE), LONGEST_LIFE)
        fields = {
            "DestinationPhoneNumber": message.address,
            "MessageBody": message.body,
            "TimeToLive": int(life.total_seconds()),
            "Context": {aws_eum_events.DELIVERY: str(message.delivery_id)},
            **self._common,
        }
        return _call("SendTextMessage", fields, messages=[message])


def _call(
    operation: str, fields: Mapping[str, Any], *, messages: Sequence[Message] = ()
) -> AwsCall:
    target = f"X-Amz-Target: PinpointSMSVoiceV2.{operation}"
    return AwsCall(messages=messages, body=orjson.dumps(fields), headers=[target])


def _outcomes_of_success(response: Response) -> list[Outcome]:
    return [Accepted(message_id=orjson.loads(response.body)["MessageId"])]


def _quota(response: Response) -> Iterator[Finding]:
    for limit in orjson.loads(response.body)["SpendLimits"]:
        if limit["Name"] == "TEXT_MESSAGE_MONTHLY_SPEND_LIMIT":
            said = f"{limit['EnforcedLimit']} US dollars a month, AWS allows {limit['MaxLimit']}"
            yield Finding(subject="quota", is_good=limit["EnforcedLimit"] > 0, detail=said)


def _tier(response: Response) -> Iterator[Finding]:
    for attribute in orjson.loads(response.body)["AccountAttributes"]:
        if attribute["Name"] == "ACCOUNT_TIER" and attribute["Value"] == "SANDBOX":
            said = "in the sandbox: texts go to verified numbers only"
            yield Finding(subject="account", is_good=False, detail=said)


VENDOR: Final = Vendor(NAME, Config, AwsEum)
