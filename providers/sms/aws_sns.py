"""Amazon SNS for text messages: simple, without delivery receipts.

    NOTIFY_AWS_SNS_REGION=eu-west-1

Delivery results go to CloudWatch alone, so no receipts come; the monthly spend limit stops
accepted messages without notice. Use `aws_eum` if receipts or the spend limit matter. SNS has no
idempotency key and no time to live.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from datetime import timedelta
from typing import Final
from urllib.parse import urlencode

from providers import clock, configuration, verdicts
from providers.aws import faults, settings, texts
from providers.aws.faults import Judge
from providers.aws.service import Api, AwsCall, AwsService, Question
from providers.aws.texts import Traffic
from providers.configuration import parse_with
from providers.contract import (
    Accepted,
    Capabilities,
    Channel,
    Finding,
    Message,
    Outcome,
    Repeat,
    Result,
)
from providers.transport import Response, Transport
from providers.vendor import OneWay, Vendor
from providers.verdicts import Verdict

NAME: Final = "aws_sns"

API: Final = Api(
    host="sns",
    signing_name="sns",
    content_type="application/x-www-form-urlencoded; charset=utf-8",
)
VERSION: Final = "2010-03-31"

TABLE: Final[verdicts.Table] = {
    **faults.COMMON,
    # Errors of Publish. Source: service model 2010-03-31.
    "AuthorizationError": Verdict.MISCONFIGURED,
    "EndpointDisabled": Verdict.DEAD,
    "InternalError": Verdict.UNAVAILABLE,
    "InvalidParameter": Verdict.REJECTED,  # "PhoneNumber Reason: +1 is not valid to publish to"
    "InvalidSecurity": Verdict.MISCONFIGURED,
    "KMSAccessDenied": Verdict.MISCONFIGURED,
    "KMSDisabled": Verdict.MISCONFIGURED,
    "KMSInvalidState": Verdict.MISCONFIGURED,
    "KMSNotFound": Verdict.MISCONFIGURED,
    "KMSOptInRequired": Verdict.MISCONFIGURED,
    "KMSThrottling": Verdict.THROTTLED,
    "NotFound": Verdict.MISCONFIGURED,
    "ParameterValueInvalid": Verdict.REJECTED,
    "PlatformApplicationDisabled": Verdict.MISCONFIGURED,
    "ValidationException": Verdict.REJECTED,
    # Errors of its SMS calls. Source: the same.
    "OptedOut": Verdict.OPTED_OUT,
    "Throttled": Verdict.THROTTLED,
}

_MESSAGE_ID: Final = re.compile(r"<MessageId>([^<]+)</MessageId>")
_SANDBOX: Final = re.compile(r"<IsInSandbox>([a-z]+)</IsInSandbox>")
_SPEND_LIMIT: Final = re.compile(
    r"<key>MonthlySpendLimit</key>\s*<value>([^<]+)</value>", re.IGNORECASE
)


@dataclass(frozen=True, slots=True, kw_only=True)
class Config(settings.Account):
    """Settings `NOTIFY_AWS_SNS_*`."""

    sender_id: str = field(default="", metadata=parse_with(settings.name))
    """A sender name instead of a number, in countries that allow names."""
    traffic: Traffic = field(default=Traffic.TRANSACTIONAL, metadata=parse_with(texts.traffic))
    """`TRANSACTIONAL` or `PROMOTIONAL`."""
    max_price: str = field(default="", metadata=parse_with(settings.price))
    """US dollars; SNS does not send a message above the price."""
    per_second: int = field(
        default=texts.PER_SECOND, metadata=parse_with(configuration.positive_number)
    )
    """The account's own limit, which AWS raises on request."""


class AwsSns(OneWay):
    """See `providers.contract.Provider`."""

    name: Final = NAME

    def __init__(
        self, config: Config, *, transport: Transport, now: clock.Clock = clock.now
    ) -> None:
        """Store the settings; the first `send` connects."""
        self.capabilities: Final = Capabilities(
            channels=frozenset({Channel.SMS}),
            repeat=Repeat.VISIBLE,
            gives_receipts=False,
            pace=texts.pace(config.per_second),
        )
        judge = Judge(table=TABLE, overrides=config.codes)
        self._service = AwsService(config, api=API, judge=judge, transport=transport, now=now)
        self._attributes = _attributes(config)

    def send(self, batch: Sequence[Message], *, deadline: timedelta) -> Iterator[Result]:
        """See `providers.contract.Provider.send`."""
        return texts.send_each(
            self._service, batch, write=self._publish, read=_outcomes_of_success, deadline=deadline
        )

    def check(self, *, deadline: timedelta) -> Iterator[Finding]:
        """See `providers.contract.Provider.check`."""
        questions = [
            Question(call=_call("GetSMSAttributes"), read=_quota),
            Question(call=_call("GetSMSSandboxAccountStatus"), read=_sandbox),
        ]
        yield from self._service.ask(questions, deadline=deadline)

    def _publish(self, message: Message) -> AwsCall:
        return _call(
            "Publish",
            PhoneNumber=message.address,
            Message=message.body,
            messages=[message],
            **self._attributes,
        )


def _call(action: str, *, messages: Sequence[Message] = (), **fields: str) -> AwsCall:
    form = {"Action": action, "Version": VERSION, **fields}
    return AwsCall(messages=messages, body=urlencode(form).encode())


def _attributes(config: Config) -> dict[str, str]:
    """Write the attributes of a message, flattened for the query protocol."""
    typed = {
        "SMSType": ("String", config.traffic.capitalize()),
        "SenderID": ("String", config.sender_id),
        "MaxPrice": ("Number", config.max_price),
    }
    chosen = [(name, kind, value) for name, (kind, value) in typed.items() if value]
    fields = {}
    for number, (name, kind, value) in enumerate(chosen, start=1):
        entry = f"MessageAttributes.entry.{number}"
        fields[f"{entry}.Name"] = f"AWS.SNS.SMS.{name}"
        fields[f"{entry}.Value.DataType"] = kind
        fields[f"{entry}.Value.StringValue"] = value
    return fields


def _outcomes_of_success(response: Response) -> list[Outcome]:
    found = _MESSAGE_ID.search(response.body.decode())
    return [Accepted(message_id=found[1] if found else "")]


def _quota(response: Response) -> Iterator[Finding]:
    found = _SPEND_LIMIT.search(response.body.decode())
    said = f"{found[1]} US dollars a month at most" if found else "no spend limit of its own is set"
    yield Finding(subject="quota", is_good=True, detail=said)


def _sandbox(response: Response) -> Iterator[Finding]:
    found = _SANDBOX.search(response.body.decode())
    if found and found[1] == "true":
        said = "in the sandbox: texts go to verified numbers only"
        yield Finding(subject="account", is_good=False, detail=said)


VENDOR: Final = Vendor(NAME, Config, AwsSns)
