"""Vonage's SMS API.

    POST {url}/sms/json  ->  200 {"messages": [{"status": "0", "message-id": ...}, ...]}
    receipts: see `vonage_receipts`

The answer is 200 for every result: each part of a long text has a separate status.

| answer | outcome |
| --- | --- |
| 2xx, every part taken | Accepted, with the first part's id |
| 2xx, no part taken | the first part's status: `vonage_codes.REFUSALS`, or NOTIFY_VONAGE_CODES |
| 2xx, some parts taken | Unanswered: handsets wait for all parts, but some show single parts |
| 2xx that cannot be read | Unanswered |
| others | `providers.http_outcomes` |

Vonage has no idempotency key: a repeat is a second SMS. `client-ref` is the delivery id, and the
receipt repeats `client-ref`.
"""

from __future__ import annotations

from base64 import b64encode
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from datetime import timedelta
from typing import Final
from urllib.parse import urlencode

from providers import configuration, http_outcomes, rounds, verdicts
from providers.configuration import parse_with
from providers.contract import (
    Accepted,
    Capabilities,
    Channel,
    Finding,
    InboundText,
    Message,
    Outcome,
    Pace,
    Receipt,
    ReceiptRequest,
    Repeat,
    Result,
    Unanswered,
)
from providers.sms import gsm7, outcomes
from providers.sms.outcomes import json_object
from providers.sms.vonage_codes import REFUSALS, TAKEN
from providers.sms.vonage_receipts import Method, VonageReceipts
from providers.transport import Reply, Request, Response, Transport
from providers.vendor import Vendor
from providers.verdicts import Table, Verdict

NAME: Final = "vonage"

CALLBACK_LIMIT_CHARACTERS: Final = 100

SHORTEST_TTL: Final = timedelta(seconds=20)
LONGEST_TTL: Final = timedelta(days=7)
"""All three from the OpenAPI of the SMS API and Vonage's own client."""

PER_SECOND: Final = 30
"""Requests of one key, https://api.support.vonage.com/hc/en-us/articles/203993598"""


def signature_method(text: str) -> Method:
    """Read `sha256` or `sha512`.

    Raises:
        ValueError: the text is neither.
    """
    if text not in set(Method):
        raise ValueError(f"write one of {', '.join(Method)}, as in Vonage's dashboard")
    return Method(text)


def public_url(text: str) -> str:
    """Read the service's public URL.

    Raises:
        ValueError: the text is no URL, or the callback would be too long for Vonage.
    """
    url = configuration.http_url(text)
    if len(_callback(url)) > CALLBACK_LIMIT_CHARACTERS:
        limit = CALLBACK_LIMIT_CHARACTERS
        raise ValueError(f"is too long: Vonage takes {limit} characters, the path included")
    return url


def _callback(url: str) -> str:
    return f"{url}/v1/receipts/{NAME}"


@dataclass(frozen=True, slots=True, kw_only=True)
class Config:
    """Settings `NOTIFY_VONAGE_*`."""

    api_key: str = field(metadata=parse_with(str))
    """API key of the account."""
    api_secret: str = field(repr=False, metadata=parse_with(str))
    """API secret of the account."""
    signature_secret: str = field(repr=False, metadata=parse_with(str))
    """Vonage signs receipts with the secret."""
    signature_method: Method = field(default=Method.SHA256, metadata=parse_with(signature_method))
    """Method of the signature in the account's settings: `sha256`."""
    from_: str = field(metadata=parse_with(str))
    """A number of the account without the plus, or a sender id."""
    per_second: int = field(default=PER_SECOND, metadata=parse_with(configuration.positive_number))
    public_url: str = field(metadata=parse_with(public_url, setting=configuration.PUBLIC_URL))
    """Public base URL; Vonage posts receipts below the URL."""
    url: str = field(default="https://rest.nexmo.com", metadata=parse_with(configuration.http_url))
    codes: Table = field(default_factory=dict, metadata=parse_with(verdicts.overrides))


class Vonage:
    """See `providers.contract.Provider`."""

    name: Final = NAME

    def __init__(self, config: Config, *, transport: Transport) -> None:
        """Store the settings; the first `send` connects."""
        self._config = config
        self._callback = _callback(config.public_url)
        self._transport = transport
        self._receipts = VonageReceipts(
            secret=config.signature_secret, method=config.signature_method, codes=config.codes
        )
        user = f"{config.api_key}:{config.api_secret}"
        self._headers = [
            "Content-Type: application/x-www-form-urlencoded",
            "Accept: application/json",
            "Authorization: Basic " + b64encode(user.encode()).decode(),
        ]
        self.capabilities = Capabilities(
            marks_begin=True,
            channels=frozenset({Channel.SMS}),
            repeat=Repeat.VISIBLE,
            gives_receipts=True,
            pace=Pace(burst=config.per_second, per_second=config.per_second),
        )

    def send(self, batch: Sequence[Message], *, deadline: timedelta) -> Iterator[Result]:
        """See `providers.contract.Provider.send`. Vonage documents no limit except status 12."""
        return rounds.send_one_request_each(
            batch,
            prepare=self._request,
            judge=self._outcome,
            transport=self._transport,
            deadline=deadline,
        )

    def parse_receipt(self, request: ReceiptRequest) -> Sequence[Receipt | InboundText]:
        """See `providers.contract.Provider.parse_receipt` and `vonage_receipts`."""
        return self._receipts.parse(request)

    def check(self, *, deadline: timedelta) -> Iterator[Finding]:
        """See `providers.contract.Provider.check`: the account's balance, in euros."""
        url = self._config.url + "/account/get-balance"
        request = Request(url=url, headers=self._headers, method="GET")
        for _index, reply in self._transport.send([request], deadline=deadline):
            yield from _findings(reply)

    def _request(self, message: Message) -> Request:
        left = min(max(message.time_to_live, SHORTEST_TTL), LONGEST_TTL)
        form = {
            "to": _digits(message.address),
            "from": self._config.from_,
            "text": message.body,
            "client-ref": message.delivery_id,
            "type": "text" if gsm7.fits(message.body) else "unicode",
            "ttl": left // timedelta(milliseconds=1),
            "callback": self._callback,
        }
        body = urlencode(form, errors="replace").encode()
        return Request(url=self._config.url + "/sms/json", headers=self._headers, body=body)

    def _outcome(self, reply: Reply, message: Message) -> Outcome:
        address = _digits(message.address)

        def of_parts(response: Response) -> Outcome:
            return self._of_parts(response, address=address)

        return http_outcomes.outcome_of(reply, accepted=of_parts, hide=address)

    def _of_parts(self, response: Response, *, address: str) -> Outcome:
        """Judge a 200 by the statuses of the parts."""
        detail = http_outcomes.excerpt(response.body, hide=address)
        parts = json_object(response.body).get("messages")
        if not isinstance(parts, list) or not all(isinstance(part, dict) for part in parts):
            return Unanswered(code="unreadable", detail=detail)
        refused = [str(part.get("status")) for part in parts if part.get("status") != TAKEN]
        if not parts or 0 < len(refused) < len(parts):
            return Unanswered(code="partly_accepted", detail=detail)
        if not refused:
            segments = outcomes.segments_of(len(parts))
            return Accepted(message_id=str(parts[0].get("message-id", "")), segments=segments)
        code = refused[0]
        verdict = verdicts.look_up(code, REFUSALS, self._config.codes) or Verdict.REJECTED
        return verdicts.outcome(verdict, code=code, detail=detail)


def _digits(number: str) -> str:
    """Return E.164 without the plus, as Vonage takes numbers."""
    return number.removeprefix("+")


def _findings(reply: Reply) -> Iterator[Finding]:
    page = outcomes.page(reply)
    if isinstance(page, Finding):
        yield page
        return
    yield Finding(subject="credentials", is_good=True, detail="signed in")
    yield outcomes.of_balance(page.get("value"), currency="EUR")


VENDOR: Final = Vendor(NAME, Config, Vonage)
