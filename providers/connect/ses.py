"""The SES account: sender identity, event destination of receipts, suppression list, rate.

Permissions beside those for sending: `ses:GetEmailIdentity`, `ses:GetConfigurationSet`,
`ses:CreateConfigurationSet`, `ses:*ConfigurationSetEventDestination(s)`,
`ses:ListSuppressedDestinations`, `ses:GetAccount`, and of SNS the permissions in
`docs/start/connect.md`.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any, Final

from providers.configuration import setting_name
from providers.connect import aws
from providers.connect.account import CannotConnect, Change, ListedAddress, ListedFor
from providers.connect.receipts_topic import EventSource, ReceiptsTopic
from providers.contract import Channel, Finding, Pace
from providers.email.ses import NAME, Config
from providers.email.ses_rate import pace_of

CONFIGURATION_SET: Final = "notify"
"""The set, if the settings name none."""
DESTINATION: Final = "notify-receipts"
EVENTS: Final = ("REJECT", "BOUNCE", "COMPLAINT", "DELIVERY", "RENDERING_FAILURE")
"""The event types that become receipts. Opens and clicks are absent: SES would then rewrite the
links of every mail, and an operator decides about tracking."""
_PAGE: Final = 1_000
"""Addresses in one answer of ListSuppressedDestinations, which documents no maximum."""
_REASONS: Final = {"BOUNCE": ListedFor.BOUNCE, "COMPLAINT": ListedFor.COMPLAINT}


class SesAccount:
    """See `providers.connect.account.ConnectableAccount`."""

    def __init__(self, config: Config, *, receipts_url: str) -> None:
        """Contact no server."""
        self._config = config
        self._set = config.configuration_set or CONFIGURATION_SET
        self._topic = ReceiptsTopic(
            config,
            source=EventSource(provider=NAME, principal="ses.amazonaws.com"),
            trusted=config.topics,
            allow_sha1=config.allow_sha1,
            receipts_url=receipts_url,
        )
        self._client: aws.AwsClient = None

    def findings(self) -> Iterator[Finding]:
        """See `ConnectableAccount.findings`."""
        yield self._sender()
        yield from self._topic.findings()
        if not self._config.configuration_set:
            setting = setting_name(NAME, "configuration_set")
            said = f"set {setting}={self._set}, restart the processes"
            yield Finding(subject="settings", is_good=False, detail=said)
        found = self._configuration_set()
        if found is not None and not found.get("SendingOptions", {}).get("SendingEnabled", True):
            said = f"sending with the configuration set {self._set} is paused"
            yield Finding(subject="configuration set", is_good=False, detail=said)

    def plan(self) -> list[Change]:
        """See `ConnectableAccount.plan`."""
        changes = self._topic.plan()
        exists = self._configuration_set() is not None
        if not exists:
            detail = f"create the configuration set {self._set}"
            changes.append(
                Change(subject="configuration set", detail=detail, apply=self._create_set)
            )
        return changes + self._plan_destination(exists=exists)

    def suppression_pages(self) -> Iterator[Sequence[ListedAddress]]:
        """See `ConnectableAccount.suppression_pages`.

        Raises:
            CannotConnect: SES refused a call, or repeats a page.
        """
        token: dict[str, str] = {}
        while True:
            with aws.calling("suppression list"):
                page = self._ses.list_suppressed_destinations(PageSize=_PAGE, **token)
                listed = [
                    ListedAddress(
                        channel=Channel.EMAIL,
                        address=each["EmailAddress"],
                        listed_for=_REASONS[each["Reason"]],
                    )
                    for each in page["SuppressedDestinationSummaries"]
                ]
            yield listed
            following = page.get("NextToken")
            if not following:
                return
            if token.get("NextToken") == following:
                raise CannotConnect("suppression list", "AWS repeats a page of the list")
            token = {"NextToken": following}

    def rate(self) -> Pace | None:
        """See `ConnectableAccount.rate`."""
        if self._config.per_second is not None:
            return None
        with aws.calling("rate"):
            quota = self._ses.get_account().get("SendQuota", {})
        per_second = float(quota.get("MaxSendRate", 0))
        return pace_of(per_second) if per_second > 0 else None

    @property
    def _ses(self) -> aws.AwsClient:
        if self._client is None:
            self._client = aws.client(self._config, "sesv2", endpoint=self._config.endpoint)
        return self._client

    def _sender(self) -> Finding:
        """Look for the identity of the sender: the mailbox, its domain, and the domains above."""
        mailbox, labels = self._config.from_, self._config.from_.domain.split(".")
        domains = [".".join(labels[start:]) for start in range(len(labels) - 1)]
        for name in (f"{mailbox.username}@{mailbox.domain}", *domains):
            identity = self._identity(name)
            if identity is None:
                continue
            shown = name if name in domains else "the mailbox"
            is_good = bool(identity.get("VerifiedForSendingStatus"))
            dkim = identity.get("DkimAttributes", {}).get("Status", "NOT_STARTED")
            said = f"{shown} is {'' if is_good else 'not '}verified, DKIM {dkim}"
            return Finding(subject="sender", is_good=is_good, detail=said)
        said = f"neither {mailbox.domain} nor the mailbox is an identity of this region"
        return Finding(subject="sender", is_good=False, detail=said)

    def _identity(self, name: str) -> Mapping[str, Any] | None:
        with aws.calling("sender"):
            try:
                found: Mapping[str, Any] = self._ses.get_email_identity(EmailIdentity=name)
            except self._ses.exceptions.NotFoundException:
                return None
        return found

    def _configuration_set(self) -> Mapping[str, Any] | None:
        with aws.calling("configuration set"):
            try:
                found: Mapping[str, Any] = self._ses.get_configuration_set(
                    ConfigurationSetName=self._set
                )
            except self._ses.exceptions.NotFoundException:
                return None
        return found

    def _create_set(self) -> None:
        with aws.calling("configuration set"):
            self._ses.create_configuration_set(ConfigurationSetName=self._set)

    def _plan_destination(self, *, exists: bool) -> list[Change]:
        """Return nothing if any destination of the set brings all events to the topic."""
        if not self._topic.is_own:
            return []
        destinations = self._destinations() if exists else []
        if any(_covers(each, self._destination()) for each in destinations):
            return []
        is_ours = any(each["Name"] == DESTINATION for each in destinations)
        detail = f"{'repair' if is_ours else 'create'} the event destination {DESTINATION}"
        return [Change(subject="event destination", detail=detail, apply=self._set_destination)]

    def _destinations(self) -> Sequence[Mapping[str, Any]]:
        with aws.calling("event destination"):
            found: Sequence[Mapping[str, Any]] = self._ses.get_configuration_set_event_destinations(
                ConfigurationSetName=self._set
            ).get("EventDestinations", [])
        return found

    def _destination(self) -> Mapping[str, Any]:
        return {
            "Enabled": True,
            "MatchingEventTypes": list(EVENTS),
            "SnsDestination": {"TopicArn": self._topic.arn},
        }

    def _set_destination(self) -> None:
        """Create or repair the service's destination; further event types, such as OPEN, stay."""
        ours = [each for each in self._destinations() if each["Name"] == DESTINATION]
        kept = {kind for each in ours for kind in each["MatchingEventTypes"]}
        wanted = {**self._destination(), "MatchingEventTypes": sorted(kept | set(EVENTS))}
        client = self._ses
        call = (
            client.update_configuration_set_event_destination
            if ours
            else client.create_configuration_set_event_destination
        )
        with aws.calling("event destination"):
            call(
                ConfigurationSetName=self._set,
                EventDestinationName=DESTINATION,
                EventDestination=wanted,
            )


def _covers(destination: Mapping[str, Any], wanted: Mapping[str, Any]) -> bool:
    return (
        bool(destination.get("Enabled"))
        and destination.get("SnsDestination") == wanted["SnsDestination"]
        and set(wanted["MatchingEventTypes"]) <= set(destination["MatchingEventTypes"])
    )
