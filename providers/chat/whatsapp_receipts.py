"""Callbacks of WhatsApp's Cloud API: JSON, signed over the raw body with the app secret.

    X-Hub-Signature-256: sha256=<hex of HMAC-SHA256>

    entry[].changes[].value.statuses[]    sent, delivered, read, failed; with the delivery id
    entry[].changes[].value.messages[]    what persons write or tap

A callback has no timestamp that is signed apart, so a callback can be replayed; a replay repeats a
known status and does no harm. Meta repeats a callback without a 200 for days.

Meta verifies the URL of the callbacks by a GET:

    ?hub.mode=subscribe&hub.verify_token=<configured token>&hub.challenge=<text of the answer>

Sources: https://developers.facebook.com/docs/whatsapp/cloud-api/webhooks/payload-examples,
https://developers.facebook.com/docs/graph-api/webhooks/getting-started
"""

from __future__ import annotations

import hmac
import logging
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import UTC, datetime
from functools import partial
from hashlib import sha256
from typing import Any, Final
from uuid import UUID

import orjson

from providers import verdicts
from providers.chat import whatsapp_number, whatsapp_text
from providers.chat.whatsapp_codes import TABLE
from providers.contract import Channel, InboundText, Receipt, ReceiptKind, ReceiptRequest
from providers.errors import InvalidSignature, MalformedReceipt
from providers.verdicts import Table, Verdict

_log = logging.getLogger(__name__)

SIGNATURE: Final = "x-hub-signature-256"

LONGEST_CHALLENGE: Final = 200
"""Characters; Meta's challenges are numbers of about ten digits."""

_ARRIVED: Final = {"delivered": ReceiptKind.DELIVERED, "read": ReceiptKind.READ}
_FAILED: Final = "failed"
"""Other statuses are intermediate (`sent`), or concern media (`played`)."""

_UNREADABLE: Final = (ValueError, KeyError, TypeError, AttributeError, OverflowError, OSError)
_Read = Callable[[], Receipt | InboundText | None]
"""Reads an item of a callback; None: an intermediate status."""


@dataclass(frozen=True, slots=True, kw_only=True)
class WhatsAppReceipts:
    """Verifies and translates callbacks."""

    app_secret: str = field(repr=False)
    verify_token: str = field(repr=False)
    codes: Table

    def parse(self, request: ReceiptRequest) -> Sequence[Receipt | InboundText]:
        """Return the receipts and texts of a callback.

        Raises:
            InvalidSignature: the body was not signed with the app secret.
            MalformedReceipt: the signed body is no callback of WhatsApp.
        """
        digest = hmac.digest(self.app_secret.encode(), request.body, sha256).hex()
        given = request.headers.get(SIGNATURE, "")
        if not hmac.compare_digest(given.encode(), f"sha256={digest}".encode()):
            raise InvalidSignature("X-Hub-Signature-256 does not match")
        try:
            readers = list(self._items(orjson.loads(request.body)))
        except _UNREADABLE as error:
            raise MalformedReceipt("not a callback of WhatsApp") from error
        return _read_each(readers)

    def answer_challenge(self, query: Mapping[str, str]) -> str:
        """See `providers.contract.AnswersChallenge`.

        Raises:
            InvalidSignature: the query has another verify token, or no challenge.
        """
        given, challenge = query.get("hub.verify_token", ""), query.get("hub.challenge", "")
        is_ours = hmac.compare_digest(given.encode(), self.verify_token.encode())
        if not is_ours or query.get("hub.mode") != "subscribe":
            raise InvalidSignature("hub.verify_token does not match")
        if not 0 < len(challenge) <= LONGEST_CHALLENGE:
            raise InvalidSignature("hub.challenge is missing")
        return challenge

    def _items(self, body: Mapping[str, Any]) -> Iterator[_Read]:
        """Return a function for each status and message of a callback, which reads the item."""
        for entry in body["entry"]:
            for change in entry["changes"]:
                if change["field"] != "messages":
                    continue  # such as the review of a template
                value = change["value"]
                for status in value.get("statuses", ()):
                    yield partial(self._receipt, status)
                for message in value.get("messages", ()):
                    yield partial(_text, message, metadata=value["metadata"])

    def _receipt(self, status: Mapping[str, Any]) -> Receipt | None:
        said = status["status"]
        if said in _ARRIVED:
            kind, code, verdict = _ARRIVED[said], "", None
        elif said == _FAILED:
            errors = status.get("errors") or [{}]
            code = str(errors[0].get("code", _FAILED))
            verdict = verdicts.look_up(code, TABLE, self.codes)
            is_refusal = verdict is not None and verdict.is_rejection
            kind = ReceiptKind.BOUNCED if is_refusal else ReceiptKind.FAILED
        else:
            return None
        return Receipt(
            kind=kind,
            delivery_id=_delivery_id(status.get("biz_opaque_callback_data", "")),
            provider_message_id=str(status["id"]),
            occurred_at=datetime.fromtimestamp(int(status["timestamp"]), UTC),
            code=code,
            detail=whatsapp_text.explain(code),
            contact_is_dead=verdict is not None and verdict.is_dead,
            has_opted_out=verdict is Verdict.OPTED_OUT,
        )


def _read_each(readers: Sequence[_Read]) -> list[Receipt | InboundText]:
    """Read the items of a callback; an item of another form costs no other item.

    Raises:
        MalformedReceipt: no item can be read.
    """
    found: list[Receipt | InboundText | None] = []
    failures: list[Exception] = []
    for read in readers:
        try:
            found.append(read())
        except _UNREADABLE as error:
            failures.append(error)
    if failures and not found:
        raise MalformedReceipt("not a callback of WhatsApp") from failures[0]
    if failures:
        _log.warning("WhatsApp: %s of %s items of a callback unread", len(failures), len(readers))
    return [each for each in found if each is not None]


def _text(message: Mapping[str, Any], *, metadata: Mapping[str, Any]) -> InboundText:
    """Read a message of a person; a picture or a location has no text."""
    match message:
        case {"text": {"body": str(text)}} | {"button": {"text": str(text)}}:
            pass
        case {"interactive": {"button_reply": {"title": str(text)}}}:
            pass
        case _:
            text = ""
    return InboundText(
        from_address=f"{whatsapp_number.PREFIX}+{message['from']}",
        to_address=str(metadata["display_phone_number"]),
        text=text,
        provider_message_id=str(message["id"]),
        channel=Channel.CHAT,
    )


def _delivery_id(echoed: str) -> UUID | None:
    """Read the delivery id; None: the message came from another system."""
    try:
        return UUID(echoed)
    except ValueError:
        return None
