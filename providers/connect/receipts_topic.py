"""The SNS topic that brings the receipts of one AWS service to the receipts URL.

    service --(policy of the topic)--> topic --(subscription)--> {NOTIFY_PUBLIC_URL}/v1/receipts/...

The receipts URL confirms a subscription by itself, if the settings name the topic
(`providers.aws.topics`). So the subscription is made only once the settings name the topic: before,
the receipts URL would refuse SNS's confirmation. Other subscriptions of the topic stay untouched,
because another installation may own them.
"""

from __future__ import annotations

import json
import time
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from typing import Any, Final

from providers.aws.settings import Account
from providers.configuration import setting_name
from providers.connect import aws
from providers.connect.account import CannotConnect, Change
from providers.contract import Finding

_SHA256: Final = "2"
"""SignatureVersion of SHA-256; the default of a topic is 1, which is SHA-1."""
_UNSHARED_KEY: Final = "alias/aws/sns"
"""The default key of encrypted topics."""
_POLLS: Final = 10
_POLL_SECONDS: Final = 1.0
_UNCONFIRMED: Final = frozenset({"PendingConfirmation", "Deleted"})
"""Values in place of a subscription's ARN."""


@dataclass(frozen=True, slots=True, kw_only=True)
class EventSource:
    """The source of a topic's events."""

    provider: str
    """Name of the provider: `ses`."""
    principal: str
    """Name of the service in policies: `ses.amazonaws.com`."""


class ReceiptsTopic:
    """The topic of one provider. Asks STS at the first use."""

    def __init__(
        self,
        account: Account,
        *,
        source: EventSource,
        trusted: frozenset[str],
        allow_sha1: bool,
        receipts_url: str,
        pause: Callable[[float], None] = time.sleep,  # noqa: TID251 - a command waits, no worker
    ) -> None:
        """Contact no server.

        Args:
            account: the settings of the provider.
            source: the service that publishes.
            trusted: topics of the settings, whose posts the receipts URL takes.
            allow_sha1: True if the receipts URL takes SignatureVersion 1.
            receipts_url: the URL to subscribe.
            pause: waits for SNS's confirmation, given seconds.
        """
        self._account, self._source, self._trusted = account, source, trusted
        self._allow_sha1, self._url, self._pause = allow_sha1, receipts_url, pause
        self._known: tuple[aws.Caller, str] | None = None
        self._client: aws.AwsClient = None

    @property
    def arn(self) -> str:
        """The topic of the settings; without one, the topic `notify-<provider>` of the account."""
        return self._identity()[1]

    @property
    def is_own(self) -> bool:
        """Return True if the topic belongs to the account and the region of the settings."""
        caller, arn = self._identity()
        return arn.split(":")[3:5] == [self._account.region, caller.account_id]

    def findings(self) -> Iterator[Finding]:
        """Yield the manual settings."""
        setting = setting_name(self._source.provider, "topics")
        if not self.is_own:
            said = f"{setting} names a topic of another account or region: subscribe there by hand"
            yield Finding(subject="topic", is_good=False, detail=said)
        elif self.arn not in self._trusted:
            said = f"set {setting}={self.arn}, restart the processes, run the command again"
            yield Finding(subject="settings", is_good=False, detail=said)
        elif self._is_locked():
            said = (
                "the topic is encrypted with a key of AWS, so no service can publish to the topic"
            )
            yield Finding(subject="topic", is_good=False, detail=said)

    def plan(self) -> list[Change]:
        """Return the missing parts: topic, signature, policy, subscription."""
        if not self.is_own:
            return []
        with aws.calling("topic"):
            attributes = self._attributes()
        changes = []
        if attributes is None:
            detail = f"create the topic {self._name} with SHA-256 signatures"
            changes.append(Change(subject="topic", detail=detail, apply=self._create))
        elif attributes.get("SignatureVersion", "1") != _SHA256 and not self._allow_sha1:
            detail = f"let the topic {self._name} sign with SHA-256"
            changes.append(Change(subject="topic", detail=detail, apply=self._sign_with_sha256))
        if self._statement() not in _statements(attributes or {}):
            detail = f"allow {self._source.principal} to publish to {self._name}"
            changes.append(Change(subject="policy", detail=detail, apply=self._allow))
        if self.arn in self._trusted:
            changes += self._plan_subscription(exists=attributes is not None)
        return changes

    @property
    def _name(self) -> str:
        return self.arn.rpartition(":")[2]

    @property
    def _sns(self) -> aws.AwsClient:
        if self._client is None:
            self._client = aws.client(self._account, "sns")
        return self._client

    def _identity(self) -> tuple[aws.Caller, str]:
        if self._known is None:
            caller = aws.caller(self._account)
            place = f"arn:{caller.partition}:sns:{self._account.region}:{caller.account_id}"
            own = f"{place}:notify-{self._source.provider.replace('_', '-')}"
            reachable = sorted(each for each in self._trusted if each.startswith(place + ":"))
            chosen = own if own in self._trusted else next(iter([*reachable, *self._trusted]), own)
            self._known = caller, chosen
        return self._known

    def _attributes(self) -> Mapping[str, str] | None:
        try:
            answer = self._sns.get_topic_attributes(TopicArn=self.arn)
        except self._sns.exceptions.NotFoundException:
            return None
        attributes: Mapping[str, str] = answer["Attributes"]
        return attributes

    def _is_locked(self) -> bool:
        """Check for a locked key policy."""
        with aws.calling("topic"):
            attributes = self._attributes() or {}
        return attributes.get("KmsMasterKeyId", "").endswith(_UNSHARED_KEY)

    def _create(self) -> None:
        with aws.calling("topic"):
            self._sns.create_topic(Name=self._name, Attributes={"SignatureVersion": _SHA256})

    def _sign_with_sha256(self) -> None:
        self._set("topic", "SignatureVersion", _SHA256)

    def _allow(self) -> None:
        """Replace the statement with our Sid, and keep all other statements of the policy."""
        with aws.calling("policy"):
            attributes = self._attributes() or {}
        policy = json.loads(attributes.get("Policy") or '{"Version": "2012-10-17"}')
        own = self._statement()
        others = [each for each in _statements(attributes) if each.get("Sid") != own["Sid"]]
        self._set("policy", "Policy", json.dumps({**policy, "Statement": [*others, own]}))

    def _set(self, subject: str, name: str, value: str) -> None:
        with aws.calling(subject):
            self._sns.set_topic_attributes(
                TopicArn=self.arn, AttributeName=name, AttributeValue=value
            )

    def _statement(self) -> dict[str, Any]:
        """Return the statement that lets the service publish.

        Sources: https://docs.aws.amazon.com/ses/latest/dg/configure-sns-notifications.html and
        https://docs.aws.amazon.com/sms-voice/latest/userguide/configuration-sets-sns-creating-role.html
        """
        caller, arn = self._identity()
        return {
            "Sid": f"notify-{self._source.provider}",
            "Effect": "Allow",
            "Principal": {"Service": self._source.principal},
            "Action": "SNS:Publish",
            "Resource": arn,
            "Condition": {"StringEquals": {"AWS:SourceAccount": caller.account_id}},
        }

    def _plan_subscription(self, *, exists: bool) -> list[Change]:
        subscription = self._subscription() if exists else None
        if subscription is None:
            detail = f"subscribe {self._url}"
            return [Change(subject="subscription", detail=detail, apply=self._subscribe)]
        if subscription in _UNCONFIRMED:
            detail = f"ask SNS again for the confirmation of {self._url}"
            return [Change(subject="subscription", detail=detail, apply=self._subscribe)]
        with aws.calling("subscription"):
            answer = self._sns.get_subscription_attributes(SubscriptionArn=subscription)
            attributes = answer["Attributes"]
        if attributes.get("RawMessageDelivery") == "true":
            detail = "switch raw message delivery off: raw messages have no signature"
            return [Change(subject="subscription", detail=detail, apply=self._stop_raw)]
        return []

    def _subscription(self) -> str | None:
        """Return the ARN of the subscription, or a word of `_UNCONFIRMED`; None if absent."""
        found = []
        with aws.calling("subscription"):
            pages = self._sns.get_paginator("list_subscriptions_by_topic")
            for page in pages.paginate(TopicArn=self.arn):
                found += [
                    str(each["SubscriptionArn"])
                    for each in page["Subscriptions"]
                    if each["Endpoint"] == self._url
                ]
        confirmed = [each for each in found if each not in _UNCONFIRMED]
        return next(iter([*confirmed, *found]), None)

    def _subscribe(self) -> None:
        """Subscribe, and wait for the confirmation that the receipts URL sends to SNS.

        Raises:
            CannotConnect: SNS refused, or has no confirmation after ten seconds.
        """
        protocol = self._url.partition(":")[0]
        with aws.calling("subscription"):
            self._sns.subscribe(TopicArn=self.arn, Protocol=protocol, Endpoint=self._url)
        for _ in range(_POLLS):
            if self._subscription() not in {None, *_UNCONFIRMED}:
                return
            self._pause(_POLL_SECONDS)
        said = f"SNS has no confirmation yet: is {self._url} reachable from the internet?"
        raise CannotConnect("subscription", said)

    def _stop_raw(self) -> None:
        with aws.calling("subscription"):
            self._sns.set_subscription_attributes(
                SubscriptionArn=self._subscription(),
                AttributeName="RawMessageDelivery",
                AttributeValue="false",
            )


def _statements(attributes: Mapping[str, str]) -> list[dict[str, Any]]:
    found = json.loads(attributes.get("Policy") or "{}").get("Statement", [])
    return found if isinstance(found, list) else [found]
