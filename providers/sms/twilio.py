"""Twilio's Programmable Messaging: SMS, and with NOTIFY_TWILIO_WHATSAPP_FROM WhatsApp.

    POST {url}/2010-04-01/Accounts/{account}/Messages.json  ->  201 {"sid": "SM...", ...}
    receipts: see `twilio_receipts`

On WhatsApp a text goes as the template of Twilio's Content API that it names for `twilio`
(`Message.template_ids`: `HX...`), or as free text within 24 hours of the person's last message.

Twilio has no idempotency key: a repeat is a second message. So the URL of the status callback
contains the delivery id, and a callback proves the acceptance of a delivery even if no answer came.

| answer | outcome |
| --- | --- |
| 2xx | Accepted |
| a code of `twilio_codes.REFUSALS` | as there, or as NOTIFY_TWILIO_CODES says |
| 500 | Unanswered: Twilio documents that a repeat may reach the person twice
(https://www.twilio.com/docs/api/errors/20500) |
| others | `providers.http_outcomes` |
"""

from __future__ import annotations

import re
from base64 import b64encode
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import timedelta
from http import HTTPStatus
from operator import itemgetter
from typing import Final
from urllib.parse import urlencode

from providers import configuration, http_outcomes, rounds, verdicts
from providers.chat import whatsapp_number, whatsapp_text
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
)
from providers.rounds import Unsendable
from providers.sms import outcomes
from providers.sms.outcomes import json_object
from providers.sms.twilio_codes import REFUSALS
from providers.sms.twilio_receipts import TwilioReceipts
from providers.transport import Reply, Request, Response, Transport
from providers.vendor import Vendor
from providers.verdicts import Table

NAME: Final = "twilio"

BODY_LIMIT_CHARACTERS: Final = 1600
"""Ten segments; error 21617."""

LONGEST_VALIDITY: Final = timedelta(hours=10)
"""Maximum of ValidityPeriod; the minimum is a second. Error 90007."""

PER_SECOND: Final = 400
"""Messages a second that Twilio takes for one number."""


_SERVICE: Final = re.compile("MG[0-9a-fA-F]{32}")
"""The SID of a messaging service; a sender id may begin with MG too."""


def account_sid(text: str) -> str:
    """Read `AC` and 32 hexadecimal digits.

    Raises:
        ValueError: the text has another form.
    """
    return _sid(text, prefix="AC")


def api_key(text: str) -> str:
    """Read `SK...:secret`, the user and password of an API key.

    Raises:
        ValueError: the text has another form.
    """
    sid, _, secret = text.partition(":")
    if not secret:
        raise ValueError("write the key's SID, a colon and its secret: SK...:...")
    return f"{_sid(sid, prefix='SK')}:{secret}"


def shared_keys(text: str) -> Mapping[str, str]:
    """Read `key=secret` pairs, separated by commas.

    Raises:
        ValueError: a part is no pair.
    """
    pairs = [part.strip().partition("=")[::2] for part in text.split(",")]
    if not all(key and secret for key, secret in pairs):
        raise ValueError("write key=secret, separated by commas")
    return dict(pairs)


def whatsapp_sender(text: str) -> str:
    """Read a number with its country code, or the SID of a messaging service.

    Raises:
        ValueError: the text has another form.
    """
    if not (_SERVICE.fullmatch(text) or re.fullmatch(r"\+[1-9][0-9]{6,14}", text)):
        raise ValueError("write a number with its country code, +14155238886, or MG...")
    return text


def _sid(text: str, *, prefix: str) -> str:
    if not re.fullmatch(prefix + "[0-9a-fA-F]{32}", text):
        raise ValueError(f"write {prefix} and 32 hexadecimal digits")
    return text


@dataclass(frozen=True, slots=True, kw_only=True)
class Config:
    """Settings `NOTIFY_TWILIO_*`."""

    account_sid: str = field(metadata=parse_with(account_sid))
    """Id of the account: `AC...`."""
    auth_token: str = field(repr=False, metadata=parse_with(str))
    """Twilio signs receipts with the auth token, so the token is needed beside an API key too."""
    api_key: str = field(default="", repr=False, metadata=parse_with(api_key))
    """API key for the login instead of the auth token; the key can be revoked separately."""
    from_: str = field(metadata=parse_with(str))
    """A number of the account, a sender id, or a messaging service (`MG...`)."""
    shared_keys: Mapping[str, str] = field(
        default_factory=dict, repr=False, metadata=parse_with(shared_keys)
    )
    """Secrets of receipts that name the signing key (HMAC-SHA256)."""
    whatsapp_from: str = field(default="", metadata=parse_with(whatsapp_sender))
    """Sender on WhatsApp: a number of the account, `+14155238886`, or a messaging service
    (`MG...`); empty: no WhatsApp."""
    per_second: int = field(default=PER_SECOND, metadata=parse_with(configuration.positive_number))
    """More where a messaging service has several numbers, less where its numbers are slow."""
    public_url: str = field(
        metadata=parse_with(configuration.http_url, setting=configuration.PUBLIC_URL)
    )
    """Public base URL; Twilio posts receipts below the URL."""
    url: str = field(default="https://api.twilio.com", metadata=parse_with(configuration.http_url))
    codes: Table = field(default_factory=dict, metadata=parse_with(verdicts.overrides))


class Twilio:
    """See `providers.contract.Provider`."""

    name: Final = NAME

    def __init__(self, config: Config, *, transport: Transport) -> None:
        """Store the settings; the first `send` connects."""
        self._config = config
        self._callback = f"{config.public_url}/v1/receipts/{NAME}"
        self._transport = transport
        self._receipts = TwilioReceipts(
            auth_token=config.auth_token, shared_keys=config.shared_keys, codes=config.codes
        )
        self._account = f"{config.url}/2010-04-01/Accounts/{config.account_sid}"
        user = config.api_key or f"{config.account_sid}:{config.auth_token}"
        self._headers = [
            "Content-Type: application/x-www-form-urlencoded",
            "Accept: application/json",
            "Authorization: Basic " + b64encode(user.encode()).decode(),
        ]
        self._sender = _sender(config.from_, prefix="")
        self._whatsapp_sender = _sender(config.whatsapp_from, prefix=whatsapp_number.PREFIX)
        chat = {Channel.CHAT} if config.whatsapp_from else set[Channel]()
        self.capabilities = Capabilities(
            marks_begin=True,
            channels=frozenset({Channel.SMS} | chat),
            repeat=Repeat.VISIBLE,
            gives_receipts=True,
            receipt_headers=frozenset({"x-twilio-signature"}),
            takes={Channel.CHAT: whatsapp_number.is_number},
            pace=Pace(burst=config.per_second, per_second=config.per_second),
        )

    def send(self, batch: Sequence[Message], *, deadline: timedelta) -> Iterator[Result]:
        """See `providers.contract.Provider.send`."""
        return rounds.send_one_request_each(
            batch,
            prepare=self._request,
            judge=self._outcome,
            transport=self._transport,
            deadline=deadline,
        )

    def parse_receipt(self, request: ReceiptRequest) -> Sequence[Receipt | InboundText]:
        """See `providers.contract.Provider.parse_receipt` and `twilio_receipts`."""
        return self._receipts.parse(request)

    def check(self, *, deadline: timedelta) -> Iterator[Finding]:
        """See `providers.contract.Provider.check`: the account's status and balance."""
        pages = [self._account + ".json", self._account + "/Balance.json"]
        requests = [Request(url=page, headers=self._headers, method="GET") for page in pages]
        replies = self._transport.send(requests, deadline=deadline)
        for index, reply in sorted(replies, key=itemgetter(0)):
            yield (_of_account, _of_balance)[index](reply)

    def _request(self, message: Message) -> Request:
        form = {
            "To": message.address,
            "StatusCallback": f"{self._callback}?delivery_id={message.delivery_id}",
        }
        if message.channel is Channel.CHAT:
            form |= self._whatsapp_sender | _whatsapp_content(message)
        else:
            form |= _validity(message) | self._sender | _sms_content(message)
        url = self._account + "/Messages.json"
        return Request(
            url=url, headers=self._headers, body=urlencode(form, errors="replace").encode()
        )

    def _outcome(self, reply: Reply, message: Message) -> Outcome:
        number = message.address.removeprefix(whatsapp_number.PREFIX)
        if isinstance(reply, Response) and reply.status >= HTTPStatus.BAD_REQUEST:
            said = str(json_object(reply.body).get("code", ""))
            for code in (said, str(reply.status)):
                verdict = verdicts.look_up(code, REFUSALS, self._config.codes)
                if verdict is not None:
                    excerpt = http_outcomes.excerpt(reply.body, hide=number)
                    detail, wait = whatsapp_text.explain(code) or excerpt, reply.retry_after
                    return verdicts.outcome(verdict, code=code, detail=detail, retry_after=wait)
        is_sms = message.channel is Channel.SMS
        accepted = _outcome_of_success if is_sms else _outcome_on_whatsapp
        return http_outcomes.outcome_of(reply, accepted=accepted, hide=number)


def _sender(name: str, *, prefix: str) -> dict[str, str]:
    """Return the form's field of a sender; a number of another channel has a prefix."""
    if _SERVICE.fullmatch(name):
        return {"MessagingServiceSid": name}
    return {"From": prefix + name}


def _validity(message: Message) -> dict[str, str]:
    """Return the form's field of the time to live."""
    seconds = max(1, int(min(message.time_to_live, LONGEST_VALIDITY).total_seconds()))
    return {"ValidityPeriod": str(seconds)}


def _sms_content(message: Message) -> dict[str, str]:
    """Return the form's fields of an SMS.

    Raises:
        Unsendable: the text is too long.
    """
    if len(message.body) > BODY_LIMIT_CHARACTERS:
        detail = f"{len(message.body)} characters, at most {BODY_LIMIT_CHARACTERS}"
        raise Unsendable("payload_too_large", detail)
    return {"Body": message.body}


def _whatsapp_content(message: Message) -> dict[str, str]:
    """Return the form's fields of a template, or of a free text.

    Raises:
        Unsendable: the address is none of WhatsApp, or the message is incomplete.
    """
    if not whatsapp_number.is_number(message.address):
        raise Unsendable("unsupported_address", "an address starts with whatsapp:")
    template = message.template_ids.get(NAME)
    if template is None:
        return {"Body": whatsapp_text.free_text(message, limit=BODY_LIMIT_CHARACTERS)}
    values = whatsapp_text.parameters(message)
    numbered = {str(number): each for number, each in enumerate(values, start=1)}
    variables = {"ContentVariables": rounds.json_body(numbered).decode()} if numbered else {}
    return {"ContentSid": template, **variables}


def _outcome_of_success(response: Response) -> Outcome:
    page = json_object(response.body)
    segments = outcomes.segments_of(page.get("num_segments"))
    return Accepted(message_id=str(page.get("sid", "")), segments=segments)


def _outcome_on_whatsapp(response: Response) -> Outcome:
    return Accepted(message_id=str(json_object(response.body).get("sid", "")))


def _of_account(reply: Reply) -> Finding:
    page = outcomes.page(reply)
    if isinstance(page, Finding):
        return page
    status = page.get("status")
    return Finding(subject="credentials", is_good=status == "active", detail=f"account {status}")


def _of_balance(reply: Reply) -> Finding:
    page = outcomes.page(reply)
    if isinstance(page, Finding):
        return page
    return outcomes.of_balance(page.get("balance"), currency=str(page.get("currency")))


VENDOR: Final = Vendor(NAME, Config, Twilio)
