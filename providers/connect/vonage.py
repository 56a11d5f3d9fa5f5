"""The Vonage account: sender, and the webhook of inbound texts. The account is only read.

Each message names its own callback (`providers.sms.vonage`), so receipts need nothing at the
account. Vonage accepts the webhook of a number only from a URL that answers GET with 200
(https://developer.vonage.com/numbers/code-snippets/update), and the receipts URL takes POST alone;
so a person sets the webhook. Vonage has no API that lists opted-out numbers, and shows the granted
rate only in the answer to a change of the account's settings.
"""

from __future__ import annotations

from base64 import b64encode
from collections.abc import Iterator, Mapping, Sequence
from contextlib import closing
from datetime import timedelta
from typing import Any, Final
from urllib.parse import urlencode

from providers.connect.account import CannotConnect, Change, ListedAddress
from providers.contract import Finding, Pace
from providers.sms import outcomes
from providers.sms.vonage import Config
from providers.transport import Request, Transport

_DEADLINE: Final = timedelta(seconds=15)


class VonageAccount:
    """See `providers.connect.account.ConnectableAccount`."""

    def __init__(self, config: Config, *, receipts_url: str) -> None:
        """Contact no server."""
        self._config, self._url = config, receipts_url

    def findings(self) -> Iterator[Finding]:
        """See `ConnectableAccount.findings`."""
        number = self._number()
        if number is None and self._config.from_.isdigit():
            said = "the account has no such number"
            yield Finding(subject="sender", is_good=False, detail=said)
        elif number is None:
            said = "a sender id: nobody can answer, and the account has no record of it"
            yield Finding(subject="sender", is_good=True, detail=said)
        else:
            yield Finding(subject="sender", is_good=True, detail="a number of this account")
            is_ours = number.get("moHttpUrl") == self._url
            said = f"inbound texts come to {self._url}"
            if not is_ours:
                said = f"set the inbound webhook of the number to {self._url} in the dashboard"
            yield Finding(subject="webhook", is_good=is_ours, detail=said)

    def plan(self) -> list[Change]:
        """See `ConnectableAccount.plan`: the account is only read."""
        return []

    def suppression_pages(self) -> Iterator[Sequence[ListedAddress]]:
        """See `ConnectableAccount.suppression_pages`: Vonage has no list."""
        yield from ()

    def rate(self) -> Pace | None:
        """See `ConnectableAccount.rate`."""
        return None

    def _number(self) -> Mapping[str, Any] | None:
        """Return the number of the settings; None for a sender id or a foreign number.

        Raises:
            CannotConnect: Vonage refused the call or did not answer.
        """
        if not self._config.from_.isdigit():
            return None
        query = urlencode({"pattern": self._config.from_, "search_pattern": 0, "size": 100})
        user = f"{self._config.api_key}:{self._config.api_secret}"
        login = b64encode(user.encode()).decode()
        request = Request(
            url=f"{self._config.url}/account/numbers?{query}",
            headers=[f"Authorization: Basic {login}", "Accept: application/json"],
            method="GET",
        )
        with closing(Transport()) as transport:
            ((_, reply),) = transport.send([request], deadline=_DEADLINE)
        page = outcomes.page(reply)
        if isinstance(page, Finding):
            raise CannotConnect(page.subject, page.detail)
        numbers = page.get("numbers")
        found = numbers if isinstance(numbers, list) else []
        named = [each for each in found if isinstance(each, Mapping)]
        return next((each for each in named if each.get("msisdn") == self._config.from_), None)
