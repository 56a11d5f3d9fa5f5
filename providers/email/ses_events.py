"""Events of SES to receipts.

| event | receipt |
| --- | --- |
| Bounce, Permanent | bounced; the mailbox is dead: SES itself stops sending |
| Bounce, Permanent, UnsubscribedRecipient | bounced; opted out, by SES's list of contacts |
| Bounce, Transient or Undetermined | bounced; the address may work again |
| Complaint | delivered, and marked as junk: never again; `not-spam` takes nothing back |
| Complaint, OnAccountSuppressionList | bounced; dead: SES did not send the mail |
| Delivery | delivered |
| Open, Click | read; none if the user agent is a machine's |
| Reject, Rendering Failure | failed |
| others (Send, DeliveryDelay, Subscription) | none: not final yet, or not about a mail |

A configuration set names the kind `eventType` and repeats the delivery's tag; an identity's
notification names the kind `notificationType` and has only SES's own id. Source:
https://docs.aws.amazon.com/ses/latest/dg/event-publishing-retrieving-sns-contents.html
"""

from __future__ import annotations

from collections.abc import Mapping
from datetime import datetime
from typing import Any, Final
from uuid import UUID

import orjson

from providers import visitors
from providers.aws import faults
from providers.contract import Receipt, ReceiptKind
from providers.email.ses_bodies import DELIVERY_TAG
from providers.errors import MalformedReceipt

KINDS: Final[Mapping[str, ReceiptKind]] = {
    "Bounce": ReceiptKind.BOUNCED,
    "Complaint": ReceiptKind.DELIVERED,
    "Delivery": ReceiptKind.DELIVERED,
    "Open": ReceiptKind.READ,
    "Click": ReceiptKind.READ,
    "Reject": ReceiptKind.FAILED,
    "Rendering Failure": ReceiptKind.FAILED,
}

_OBJECTS: Final[Mapping[str, str]] = {"Rendering Failure": "failure"}
"""Place of an event's own fields, if not under the event's name in lower case."""

_VISITS: Final = frozenset({"Open", "Click"})
_UNSUBSCRIBED: Final = "UnsubscribedRecipient"
_SUPPRESSED: Final = "OnAccountSuppressionList"
_NOT_SPAM: Final = "not-spam"
"""A person moved the mail out of the junk folder."""


def receipts(text: str) -> list[Receipt]:
    """Translate an SES event into a receipt or nothing. A mail has a single recipient.

    Raises:
        MalformedReceipt: the text is not an SES event.
    """
    try:
        event = orjson.loads(text)
        name = event.get("eventType") or event["notificationType"]
        is_told = name in KINDS and _is_a_reading(event, name=name)
        return [_receipt(event, name=name)] if is_told else []
    except (ValueError, KeyError, TypeError, AttributeError) as error:
        raise MalformedReceipt("not an event of SES") from error


def _receipt(event: Mapping[str, Any], *, name: str) -> Receipt:
    mail = event["mail"]
    said = event.get(_OBJECTS.get(name, name.lower()), {})
    suppressed = said.get("complaintSubType") == _SUPPRESSED
    return Receipt(
        kind=ReceiptKind.BOUNCED if suppressed else KINDS[name],
        delivery_id=_delivery_id(mail),
        provider_message_id=mail["messageId"],
        occurred_at=datetime.fromisoformat(said.get("timestamp") or mail["timestamp"]),
        code=_code(name, said),
        detail=faults.redact(_detail(said)),
        contact_is_dead=_is_final(name, said),
        has_complained=name == "Complaint" and _is_final(name, said),
        has_opted_out=name == "Bounce" and said.get("bounceSubType") == _UNSUBSCRIBED,
    )


def _is_a_reading(event: Mapping[str, Any], *, name: str) -> bool:
    """Return False for an opening or a click of a machine."""
    agent = event.get(name.lower(), {}).get("userAgent") if name in _VISITS else ""
    return visitors.is_a_reading(is_machine=False, agent=agent or "")


def _is_final(name: str, said: Mapping[str, Any]) -> bool:
    if name == "Bounce":
        is_opt_out = said.get("bounceSubType") == _UNSUBSCRIBED
        return said["bounceType"] == "Permanent" and not is_opt_out
    return name == "Complaint" and said.get("complaintFeedbackType") != _NOT_SPAM


def _delivery_id(mail: Mapping[str, Any]) -> UUID | None:
    """Read the delivery's tag; None for a foreign tag."""
    values = mail.get("tags", {}).get(DELIVERY_TAG, [])
    try:
        return UUID(values[0]) if values else None
    except ValueError:
        return None


def _code(name: str, said: Mapping[str, Any]) -> str:
    """Return SES's finest name: `Bounce/Permanent/NoEmail`."""
    finer = ("bounceType", "bounceSubType", "complaintSubType", "complaintFeedbackType")
    return "/".join([name, *(said[each] for each in finer if said.get(each))])


def _detail(said: Mapping[str, Any]) -> str:
    """Return the receiving server's words, or SES's reason."""
    for recipient in said.get("bouncedRecipients", []):
        if recipient.get("diagnosticCode"):
            return str(recipient["diagnosticCode"])
    return str(said.get("reason") or said.get("errorMessage") or "")
