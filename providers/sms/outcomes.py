"""Shared parts of SMS vendors: no key against repeats, and receipts with a reason."""

from __future__ import annotations

from collections.abc import Mapping
from decimal import Decimal, InvalidOperation
from http import HTTPStatus
from typing import Final

import orjson

from providers import http_outcomes
from providers.contract import Finding, ReceiptKind
from providers.transport import Reply, Response
from providers.verdicts import Verdict

_MOST_SEGMENTS: Final = 255
"""Parts of a concatenated SMS."""
_MOST_DOLLARS: Final = 100
"""No SMS costs more; a greater price is an error of the vendor."""


def segments_of(count: object) -> int | None:
    """Read a vendor's count of segments, a number or a text; None: none, or an impossible count."""
    try:
        found = int(str(count))
    except ValueError:
        return None
    return found if 0 < found <= _MOST_SEGMENTS else None


def micros_of(*dollars: object) -> int | None:
    """Add amounts in US dollars, numbers or texts, as microdollars.

    None: an amount is missing, negative, no number, or above 100 dollars.
    """
    try:
        amounts = [Decimal(str(each)) for each in dollars]
    except InvalidOperation:
        return None
    if not all(each.is_finite() and 0 <= each <= _MOST_DOLLARS for each in amounts):
        return None
    return round(sum(amounts) * 1_000_000)


def page(reply: Reply) -> Mapping[str, object] | Finding:
    """Return the finding of an account's page, or the error of reading the page."""
    if isinstance(reply, Response) and reply.status == HTTPStatus.OK:
        return json_object(reply.body)
    finding = http_outcomes.reachability(reply)
    refused = isinstance(reply, Response) and reply.status in http_outcomes.MISCONFIGURED
    subject = "credentials" if refused else finding.subject
    return Finding(subject=subject, is_good=False, detail=finding.detail)


def of_balance(amount: object, *, currency: str) -> Finding:
    """Return the account's balance for display; `amount` is as the vendor writes the sum."""
    try:
        balance = float(str(amount))
    except ValueError:
        return Finding(subject="quota", is_good=False, detail="the balance could not be read")
    return Finding(subject="quota", is_good=balance > 0, detail=f"balance {balance:.2f} {currency}")


def kind_of_loss(verdict: Verdict | None) -> ReceiptKind:
    """Return the receipt of a failed SMS: bounced after a refusal by the handset or the network."""
    refused = verdict is not None and verdict.is_rejection
    return ReceiptKind.BOUNCED if refused else ReceiptKind.FAILED


def json_object(body: bytes) -> Mapping[str, object]:
    """Read a JSON object; any other text counts as an empty object."""
    try:
        parsed = orjson.loads(body)
    except ValueError:
        return {}
    return parsed if isinstance(parsed, dict) else {}
