"""The SNS account for text messages: numbers that opted out. SNS gives no receipts and no rate."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from providers.connect import aws
from providers.connect.account import Change, ListedAddress, ListedFor
from providers.contract import Channel, Finding, Pace
from providers.sms.aws_sns import Config


class AwsSnsAccount:
    """See `providers.connect.account.ConnectableAccount`."""

    def __init__(self, config: Config, *, receipts_url: str) -> None:
        """Contact no server."""
        del receipts_url
        self._config = config

    def findings(self) -> Iterator[Finding]:
        """See `ConnectableAccount.findings`."""
        said = "SNS reports no results of texts; aws_eum does"
        yield Finding(subject="receipts", is_good=True, detail=said)

    def plan(self) -> list[Change]:
        """See `ConnectableAccount.plan`: no change is possible."""
        return []

    def suppression_pages(self) -> Iterator[Sequence[ListedAddress]]:
        """See `ConnectableAccount.suppression_pages`."""
        with aws.calling("opt-outs"):
            sns = aws.client(self._config, "sns", endpoint=self._config.endpoint)
            for page in sns.get_paginator("list_phone_numbers_opted_out").paginate():
                yield [
                    ListedAddress(channel=Channel.SMS, address=each, listed_for=ListedFor.OPT_OUT)
                    for each in page["phoneNumbers"]
                ]

    def rate(self) -> Pace | None:
        """See `ConnectableAccount.rate`."""
        return None
