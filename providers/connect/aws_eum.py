"""The account of AWS End User Messaging: sender, event destination, opt-out lists, rate.

The number that sends decides about opt-outs and rate: the number of the settings, the numbers of
the pool of the settings, or every active number of the account. A sender id has neither. AWS counts
message parts a second, and a text of several parts takes several; the rates of several numbers are
added, which is too high where all texts go to one country.

Inbound texts are left as they are: a number has one two-way channel, which may belong to another
system.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from functools import cached_property
from typing import Any, Final

from providers.aws import texts
from providers.configuration import setting_name
from providers.connect import aws
from providers.connect.account import Change, ListedAddress, ListedFor
from providers.connect.receipts_topic import EventSource, ReceiptsTopic
from providers.contract import Channel, Finding, Pace
from providers.sms.aws_eum import NAME, Config

CONFIGURATION_SET: Final = "notify"
"""The set, if the settings name none."""
DESTINATION: Final = "notify-receipts"
_ALL_TEXTS: Final = frozenset({"TEXT_ALL", "ALL"})
"""Event types that contain every event of a text."""
_PAGE: Final = 100
"""Items of an answer, the maximum; AWS takes one such call a second."""
_OPT_OUT_LIST: Final = "Default"
"""The list of a number without a list of its own, and of sender ids."""


class AwsEumAccount:
    """See `providers.connect.account.ConnectableAccount`."""

    def __init__(self, config: Config, *, receipts_url: str) -> None:
        """Contact no server."""
        self._config = config
        self._set = config.configuration_set or CONFIGURATION_SET
        self._topic = ReceiptsTopic(
            config,
            source=EventSource(provider=NAME, principal="sms-voice.amazonaws.com"),
            trusted=config.topics,
            allow_sha1=config.allow_sha1,
            receipts_url=receipts_url,
        )

    def findings(self) -> Iterator[Finding]:
        """See `ConnectableAccount.findings`."""
        yield self._sender()
        yield from self._topic.findings()
        if not self._config.configuration_set:
            setting = setting_name(NAME, "configuration_set")
            said = f"set {setting}={self._set}, restart the processes"
            yield Finding(subject="settings", is_good=False, detail=said)

    def plan(self) -> list[Change]:
        """See `ConnectableAccount.plan`."""
        changes = self._topic.plan()
        found = self._configuration_set()
        if found is None:
            detail = f"create the configuration set {self._set}"
            changes.append(
                Change(subject="configuration set", detail=detail, apply=self._create_set)
            )
        destinations = found["EventDestinations"] if found else []
        if self._topic.is_own and not any(map(self._covers, destinations)):
            is_ours = any(each["EventDestinationName"] == DESTINATION for each in destinations)
            detail = f"{'repair' if is_ours else 'create'} the event destination {DESTINATION}"
            apply = self._update_destination if is_ours else self._create_destination
            changes.append(Change(subject="event destination", detail=detail, apply=apply))
        return changes

    def suppression_pages(self) -> Iterator[Sequence[ListedAddress]]:
        """See `ConnectableAccount.suppression_pages`."""
        names = {each["OptOutListName"] for each in self._numbers} or {_OPT_OUT_LIST}
        for name in sorted(names):
            wanted = {"OptOutListName": name}
            for page in self._pages("describe_opted_out_numbers", "OptedOutNumbers", **wanted):
                yield [
                    ListedAddress(
                        channel=Channel.SMS,
                        address=each["OptedOutNumber"],
                        listed_for=ListedFor.OPT_OUT,
                    )
                    for each in page
                ]

    def rate(self) -> Pace | None:
        """See `ConnectableAccount.rate`: the sum of the numbers' `MessagingLimits`."""
        if self._config.per_second != texts.PER_SECOND:
            return None
        limits = [each.get("MessagingLimits", {}).get("RateLimits", {}) for each in self._numbers]
        per_second = sum(int(each.get("SMS", 0)) for each in limits)
        return texts.pace(per_second) if per_second else None

    @cached_property
    def _client(self) -> aws.AwsClient:
        return aws.client(self._config, "pinpoint-sms-voice-v2", endpoint=self._config.endpoint)

    @cached_property
    def _numbers(self) -> Sequence[Mapping[str, Any]]:
        """The active numbers chosen by the settings."""
        chosen = self._config.origination
        return [
            each
            for page in self._pages("describe_phone_numbers", "PhoneNumbers")
            for each in page
            if each["Status"] == "ACTIVE" and "SMS" in each["NumberCapabilities"]
            if not chosen or any(_is(chosen, each.get(name, "")) for name in _NAMES)
        ]

    def _sender(self) -> Finding:
        chosen, count = self._config.origination, len(self._numbers)
        if count:
            said = f"{count} active {'number' if count == 1 else 'numbers'} of the account"
            return Finding(subject="sender", is_good=True, detail=said)
        if chosen and not any(map(chosen.startswith, _NUMBER_OR_POOL)):
            said = "a sender id: AWS reports neither its state nor its rate here"
            return Finding(subject="sender", is_good=True, detail=said)
        said = "the number or pool of the settings" if chosen else "the account"
        return Finding(subject="sender", is_good=False, detail=f"{said} has no active number")

    def _pages(
        self, operation: str, member: str, **arguments: object
    ) -> Iterator[Sequence[Mapping[str, Any]]]:
        with aws.calling(operation.removeprefix("describe_").replace("_", " ")):
            pages = self._client.get_paginator(operation)
            for page in pages.paginate(PaginationConfig={"PageSize": _PAGE}, **arguments):
                yield page[member]

    def _configuration_set(self) -> Mapping[str, Any] | None:
        with aws.calling("configuration set"):
            try:
                answer = self._client.describe_configuration_sets(ConfigurationSetNames=[self._set])
            except self._client.exceptions.ResourceNotFoundException:
                return None
            return next(iter(answer["ConfigurationSets"]), None)

    def _create_set(self) -> None:
        with aws.calling("configuration set"):
            self._client.create_configuration_set(ConfigurationSetName=self._set)

    def _covers(self, destination: Mapping[str, Any]) -> bool:
        return (
            bool(destination["Enabled"])
            and destination.get("SnsDestination") == {"TopicArn": self._topic.arn}
            and not _ALL_TEXTS.isdisjoint(destination["MatchingEventTypes"])
        )

    def _create_destination(self) -> None:
        with aws.calling("event destination"):
            self._client.create_event_destination(**self._destination())

    def _update_destination(self) -> None:
        with aws.calling("event destination"):
            self._client.update_event_destination(**self._destination(), Enabled=True)

    def _destination(self) -> Mapping[str, Any]:
        return {
            "ConfigurationSetName": self._set,
            "EventDestinationName": DESTINATION,
            "MatchingEventTypes": ["TEXT_ALL"],
            "SnsDestination": {"TopicArn": self._topic.arn},
        }


_NAMES: Final = ("PhoneNumber", "PhoneNumberId", "PhoneNumberArn", "PoolId")
_NUMBER_OR_POOL: Final = ("+", "arn:", "phone-", "pool-")
"""First characters of a number, an ARN, and the ids of numbers and pools."""


def _is(chosen: str, name: str) -> bool:
    """Compare the setting with a name of a number; the ARN of a pool ends with the pool's id."""
    return bool(name) and (chosen == name or chosen.endswith(f":pool/{name}"))
