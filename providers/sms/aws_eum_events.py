"""Receipts from events of End User Messaging, and texts that people send to the account's numbers.

A number's two-way channel is an SNS topic, which may be the topic of the events. Source:
https://docs.aws.amazon.com/sms-voice/latest/userguide/two-way-sms-payload.html

Source: https://docs.aws.amazon.com/sms-voice/latest/userguide/configuration-sets-event-types.html
and the format beside it. "Depending on the destination country the TEXT_DELIVERED and
TEXT_SUCCESSFUL events may be used interchangeably", so a success that is final counts as delivered.
"""

from __future__ import annotations

from collections.abc import Mapping
from datetime import UTC, datetime, timedelta
from typing import Any, Final
from uuid import UUID

import orjson

from providers.aws import faults
from providers.contract import InboundText, Keyword, Receipt, ReceiptKind
from providers.errors import MalformedReceipt
from providers.sms import outcomes

DELIVERY: Final = "delivery_id"
"""Key of the delivery id in the Context of a message."""

KINDS: Final[Mapping[str, ReceiptKind | None]] = {
    "TEXT_QUEUED": None,
    "TEXT_SENT": None,
    "TEXT_PENDING": None,
    "TEXT_SUCCESSFUL": ReceiptKind.DELIVERED,
    "TEXT_DELIVERED": ReceiptKind.DELIVERED,
    "TEXT_INVALID": ReceiptKind.BOUNCED,  # the number is none
    "TEXT_INVALID_MESSAGE": ReceiptKind.FAILED,
    "TEXT_UNREACHABLE": ReceiptKind.FAILED,
    "TEXT_CARRIER_UNREACHABLE": ReceiptKind.FAILED,
    "TEXT_BLOCKED": ReceiptKind.FAILED,
    "TEXT_CARRIER_BLOCKED": ReceiptKind.FAILED,
    "TEXT_SPAM": ReceiptKind.FAILED,
    "TEXT_UNKNOWN": None,  # no report of the carrier for 72 hours: no receipt
    "TEXT_TTL_EXPIRED": ReceiptKind.FAILED,
    "TEXT_PROTECT_BLOCKED": ReceiptKind.FAILED,
}
"""Receipt by event type. None: the event has no result. Other types do not concern texts."""

DEAD: Final = frozenset({"TEXT_INVALID"})

_KEYWORDS: Final = {"STOP": Keyword.STOP, "HELP": Keyword.HELP}
"""By `messageKeyword`, the registered keyword that AWS found in the text. Of these two AWS fixes
the action. The event does not name the action of other keywords: the text's words decide."""

_EPOCH: Final = datetime.fromtimestamp(0, UTC)


def parse(text: str) -> list[Receipt | InboundText]:
    """Translate an event into a receipt, an inbound text, or nothing.

    Raises:
        MalformedReceipt: the text is no event of the service.
    """
    try:
        event = orjson.loads(text)
        if "inboundMessageId" in event:
            return [_text(event)]
        kind = KINDS.get(event["eventType"])
        success_so_far = event["eventType"] == "TEXT_SUCCESSFUL" and not event.get("isFinal")
        return [] if kind is None or success_so_far else [_receipt(event, kind=kind)]
    except (ValueError, KeyError, TypeError, AttributeError, OverflowError) as error:
        raise MalformedReceipt("not an event of End User Messaging") from error


def _receipt(event: Mapping[str, Any], *, kind: ReceiptKind) -> Receipt:
    return Receipt(
        kind=kind,
        delivery_id=_delivery_id(event.get("context") or {}),
        provider_message_id=event["messageId"],
        occurred_at=_EPOCH + timedelta(milliseconds=event["eventTimestamp"]),
        code=event["eventType"],
        detail=faults.redact(event.get("messageStatusDescription") or ""),
        contact_is_dead=event["eventType"] in DEAD,
        segments=outcomes.segments_of(event.get("totalMessageParts")),
        price_micros=_price(event),
    )


def _price(event: Mapping[str, Any]) -> int | None:
    """Add the price of the message and the fee of the carrier; AWS has prices in US dollars."""
    price, fee = event.get("totalMessagePrice"), event.get("totalCarrierFee")
    return outcomes.micros_of(price, 0 if fee is None else fee)


def _text(event: Mapping[str, Any]) -> InboundText:
    return InboundText(
        from_address=event["originationNumber"],
        to_address=event["destinationNumber"],
        text=event["messageBody"],
        provider_message_id=event["inboundMessageId"],
        keyword=_KEYWORDS.get(str(event.get("messageKeyword") or "").upper()),
    )


def _delivery_id(context: Mapping[str, Any]) -> UUID | None:
    """Read the delivery id; None for a foreign message in the same set."""
    try:
        return UUID(context[DELIVERY])
    except (KeyError, ValueError):
        return None
