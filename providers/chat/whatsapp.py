"""WhatsApp through Meta's Cloud API, on the channel chat.

    POST {url}/{phone number id}/messages  ->  200 {"messages": [{"id": "wamid..."}]}
    receipts: see `whatsapp_receipts`

A text goes as an approved template if the text names a template of this provider
(`Message.template_ids`: `order_shipped/en_US`, name and language); Meta takes templates at any
time. Another text goes as free text, which Meta takes within 24 hours of the person's last message;
at other times Meta refuses the text with 131047, in the answer or in a status, and the delivery
fails or gives way to its next channel.

Meta has no idempotency key: a repeat is a second message. `biz_opaque_callback_data` has the
delivery id, and each status repeats it, so that a status names the delivery even if the answer to
the request was lost.

| answer | outcome |
| --- | --- |
| 2xx | Accepted |
| a code of `whatsapp_codes.TABLE` | as there, or as NOTIFY_WHATSAPP_CODES says |
| others | `providers.http_outcomes` |

Source: https://developers.facebook.com/docs/whatsapp/cloud-api/reference/messages
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import timedelta
from http import HTTPStatus
from typing import Any, Final

import orjson

from providers import configuration, http_outcomes, rounds, verdicts
from providers.chat import whatsapp_number, whatsapp_text
from providers.chat.whatsapp_codes import TABLE
from providers.chat.whatsapp_receipts import SIGNATURE, WhatsAppReceipts
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
from providers.transport import Failure, Reply, Request, Response, Transport
from providers.vendor import Vendor
from providers.verdicts import Table

NAME: Final = "whatsapp"

PER_SECOND: Final = 80
"""Messages a second of a business number; Meta raises the limit to 1,000 for some."""

BODY_LIMIT_CHARACTERS: Final = 4096
"""Of a free text; a longer text loses its end."""

_NUMBER_ID: Final = re.compile(r"[0-9]{5,20}")


def number_id(text: str) -> str:
    """Read the id of a business number, which is no telephone number.

    Raises:
        ValueError: the text is no id.
    """
    if not _NUMBER_ID.fullmatch(text):
        raise ValueError("write the phone number ID of Meta's console, which has digits alone")
    return text


@dataclass(frozen=True, slots=True, kw_only=True)
class Config:
    """Settings `NOTIFY_WHATSAPP_*`."""

    phone_number_id: str = field(metadata=parse_with(number_id))
    """Id of the business number in Meta's console."""
    access_token: str = field(repr=False, metadata=parse_with(str))
    """Token of a system user with the permission `whatsapp_business_messaging`."""
    app_secret: str = field(repr=False, metadata=parse_with(str))
    """Secret of the app, with which Meta signs callbacks."""
    verify_token: str = field(repr=False, metadata=parse_with(str))
    """A text of your choice, which the form of the webhook in Meta's console gets too."""
    per_second: int = field(default=PER_SECOND, metadata=parse_with(configuration.positive_number))
    """Rate of the business number."""
    url: str = field(
        default="https://graph.facebook.com/v23.0", metadata=parse_with(configuration.http_url)
    )
    """Base URL of Meta's Graph API with its version."""
    codes: Table = field(default_factory=dict, metadata=parse_with(verdicts.overrides))


class WhatsApp:
    """See `providers.contract.Provider`."""

    name: Final = NAME

    def __init__(self, config: Config, *, transport: Transport) -> None:
        """Store the settings; the first `send` connects."""
        self._transport = transport
        self._codes = config.codes
        self._number = f"{config.url}/{config.phone_number_id}"
        self._headers = [
            "Content-Type: application/json",
            "Authorization: Bearer " + config.access_token,
        ]
        self._receipts = WhatsAppReceipts(
            app_secret=config.app_secret, verify_token=config.verify_token, codes=config.codes
        )
        self.capabilities: Final = Capabilities(
            marks_begin=True,
            channels=frozenset({Channel.CHAT}),
            repeat=Repeat.VISIBLE,
            gives_receipts=True,
            receipt_headers=frozenset({SIGNATURE}),
            address_kinds=frozenset({whatsapp_number.KIND}),
            pace=Pace.even(config.per_second),
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
        """See `providers.contract.Provider.parse_receipt` and `whatsapp_receipts`."""
        return self._receipts.parse(request)

    def answer_challenge(self, query: Mapping[str, str]) -> str:
        """See `providers.contract.AnswersChallenge`."""
        return self._receipts.answer_challenge(query)

    def check(self, *, deadline: timedelta) -> Iterator[Finding]:
        """See `providers.contract.Provider.check`: the business number and its quality."""
        url = self._number + "?fields=quality_rating"
        request = Request(url=url, headers=self._headers, method="GET")
        for _index, reply in self._transport.send([request], deadline=deadline):
            yield from _findings(reply)

    def _request(self, message: Message) -> Request:
        if not whatsapp_number.is_number(message.address):
            raise Unsendable("unsupported_address", "an address starts with whatsapp:")
        body = rounds.json_body({
            "messaging_product": "whatsapp",
            "recipient_type": "individual",
            "to": whatsapp_number.digits(message.address),
            "biz_opaque_callback_data": str(message.delivery_id),
            **_content(message),
        })
        return Request(url=self._number + "/messages", headers=self._headers, body=body)

    def _outcome(self, reply: Reply, message: Message) -> Outcome:
        hide = whatsapp_number.digits(message.address)
        if isinstance(reply, Response) and reply.status >= HTTPStatus.BAD_REQUEST:
            code = _code(reply)
            verdict = verdicts.look_up(code, TABLE, self._codes)
            detail = whatsapp_text.explain(code) or http_outcomes.excerpt(reply.body, hide=hide)
            if verdict is None:
                return http_outcomes.of_status(reply, detail=detail, code=code)
            return verdicts.outcome(
                verdict, code=code, detail=detail, retry_after=reply.retry_after
            )
        return http_outcomes.outcome_of(reply, accepted=_outcome_of_success, hide=hide)


def _content(message: Message) -> dict[str, object]:
    """Return the fields of a template, or of a free text.

    Raises:
        Unsendable: the message has no text, or the template's id or a parameter is invalid.
    """
    template = message.template_ids.get(NAME)
    if template is None:
        text = whatsapp_text.free_text(message, limit=BODY_LIMIT_CHARACTERS)
        return {"type": "text", "text": {"body": text}}
    name, slash, language = template.rpartition("/")
    if not slash or not name or not language:
        raise Unsendable("malformed_template", "the id of a template is name/language")
    content: dict[str, object] = {"name": name, "language": {"code": language}}
    if values := whatsapp_text.parameters(message):
        listed = [{"type": "text", "text": each} for each in values]
        content["components"] = [{"type": "body", "parameters": listed}]
    return {"type": "template", "template": content}


def _outcome_of_success(response: Response) -> Outcome:
    match _json(response):
        case {"messages": [{"id": str(message_id)}, *_]}:
            return Accepted(message_id=message_id)
        case _:
            return Accepted()  # a 2xx is the promise


def _code(response: Response) -> str:
    """Return the error's code; the HTTP status for an answer without a code."""
    match _json(response):
        case {"error": {"code": int(code)}}:
            return str(code)
        case _:
            return str(response.status)


def _findings(reply: Reply) -> Iterator[Finding]:
    if isinstance(reply, Failure):
        yield http_outcomes.reachability(reply)
        return
    if not reply.is_success:
        detail = f"HTTP {reply.status}, code {_code(reply)}"
        yield Finding(subject="credentials", is_good=False, detail=detail)
        return
    yield Finding(subject="credentials", is_good=True, detail="Meta knows the business number")
    rating = str(_json(reply).get("quality_rating", "UNKNOWN"))[:20]
    yield Finding(subject="quality", is_good=rating != "RED", detail=rating)


def _json(response: Response) -> Mapping[str, Any]:
    """Read a JSON object; any other text counts as an empty object."""
    try:
        found = orjson.loads(response.body)
    except ValueError:
        return {}
    return found if isinstance(found, dict) else {}


VENDOR: Final = Vendor(NAME, Config, WhatsApp)
