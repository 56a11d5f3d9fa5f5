"""Twilio's callbacks: a form, signed over the public URL of the callback.

    status of a message   to the URL in the message's request
    a text from a person  to the webhook "a message comes in" of the number or the WhatsApp sender:
                          enter .../v1/receipts/twilio

Two signatures exist: HMAC-SHA1 with the auth token and, where a header names a shared key,
HMAC-SHA256 with that key's secret. The signatures have no timestamp, so a callback can be replayed;
a replay repeats a known status and does no harm.

Callbacks come in any order and repeat. Callbacks of a message on the way contain no new result.
Source: https://www.twilio.com/docs/messaging/guides/outbound-message-status-in-status-callbacks
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Final
from urllib.parse import parse_qs, parse_qsl, urlsplit
from uuid import UUID

from providers import verdicts
from providers.chat import whatsapp_number, whatsapp_text
from providers.contract import (
    Channel,
    InboundText,
    Keyword,
    Receipt,
    ReceiptKind,
    ReceiptRequest,
)
from providers.errors import InvalidSignature, MalformedReceipt
from providers.sms.outcomes import kind_of_loss
from providers.sms.twilio_codes import FAILURES, REFUSALS
from providers.verdicts import Table, Verdict

ARRIVED: Final = {"delivered": ReceiptKind.DELIVERED, "read": ReceiptKind.READ}
LOST: Final = frozenset({"undelivered", "failed", "canceled"})
"""Any other status is an intermediate status: `queued`, `sending`, `sent` ..."""

RECEIVED: Final = "received"
"""The `SmsStatus` of a text from a person, which has no `MessageStatus`. Source:
https://www.twilio.com/docs/messaging/guides/webhook-request"""

_KEYWORDS: Final = {"STOP": Keyword.STOP, "START": Keyword.START, "HELP": Keyword.HELP}
"""By `OptOutType`, which Advanced Opt-Out adds to texts with a keyword of the messaging service:
the account's own words in any language. Source:
https://www.twilio.com/docs/messaging/tutorials/advanced-opt-out"""

_TABLE: Final[Table] = {**REFUSALS, **FAILURES}
"""A messaging service refuses later, by callback, errors that a single number refuses at once."""


@dataclass(frozen=True, slots=True, kw_only=True)
class TwilioReceipts:
    """Verifies and translates callbacks."""

    auth_token: str = field(repr=False)
    shared_keys: Mapping[str, str] = field(repr=False)
    codes: Table

    def parse(self, request: ReceiptRequest) -> Sequence[Receipt | InboundText]:
        """Return the receipt or the text of a callback; none while a message is on its way.

        Raises:
            InvalidSignature: the signature over the URL is not of the auth token or a shared key.
            MalformedReceipt: the signed form is neither a status of a message nor a text.
        """
        form = self._verify(request)
        if form.get("SmsStatus") == RECEIVED:
            return [_text(form)]
        status, sid = form.get("MessageStatus", ""), form.get("MessageSid", "")
        if not status or not sid:
            raise MalformedReceipt("no status of a message")
        if status in LOST:
            code = form.get("ErrorCode") or status
            verdict = verdicts.look_up(code, _TABLE, self.codes)
            kind = kind_of_loss(verdict)
        elif status in ARRIVED:
            code, verdict, kind = "", None, ARRIVED[status]
        else:
            return []
        receipt = Receipt(
            kind=kind,
            delivery_id=_delivery_id(request.url),
            provider_message_id=sid,
            code=code,
            detail=whatsapp_text.explain(code),
            contact_is_dead=verdict is not None and verdict.is_dead,
            has_opted_out=verdict is Verdict.OPTED_OUT,
        )
        return [receipt]

    def _verify(self, request: ReceiptRequest) -> dict[str, str]:
        """Return the form of a verified callback.

        Raises:
            InvalidSignature: the signature does not match.
        """
        from twilio.request_validator import (  # noqa: PLC0415 - only receipts need twilio
            RequestValidator,
            get_signature_algorithm,
        )

        settings = request.headers.get("x-twilio-webhooks-signature-settings", "")
        key = dict(parse_qsl(settings.replace(",", "&"))).get("key", "")
        secret = self.shared_keys.get(key, "") if key else self.auth_token
        form = dict(parse_qsl(request.body.decode(errors="replace"), keep_blank_values=True))
        signature = request.headers.get("x-twilio-signature", "")
        algorithm = get_signature_algorithm(settings)
        if not secret or not RequestValidator(secret).validate(
            request.url, form, signature, algorithm
        ):
            raise InvalidSignature("X-Twilio-Signature does not match")
        return form


def _text(form: Mapping[str, str]) -> InboundText:
    """Read a text that a person sent; a message of pictures only has an empty body.

    Raises:
        MalformedReceipt: the form has no sender.
    """
    if not form.get("From"):
        raise MalformedReceipt("the message has no sender")
    return InboundText(
        from_address=form["From"],
        to_address=form.get("To", ""),
        text=form.get("Body", ""),
        provider_message_id=form.get("MessageSid", ""),
        keyword=_KEYWORDS.get(form.get("OptOutType", "").upper()),
        channel=Channel.CHAT if whatsapp_number.is_number(form["From"]) else Channel.SMS,
    )


def _delivery_id(url: str) -> UUID | None:
    """Read the delivery id of the callback's URL; None: a URL of an older release.

    Raises:
        MalformedReceipt: the URL has another text in the id's place.
    """
    values = parse_qs(urlsplit(url).query).get("delivery_id")
    if values is None:
        return None
    try:
        return UUID(values[0])
    except ValueError as error:
        raise MalformedReceipt("delivery_id is an invalid UUID") from error
