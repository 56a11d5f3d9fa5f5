"""Shared parts of SMS vendors: no key against repeats, and receipts with a reason."""

from __future__ import annotations

from collections.abc import Mapping
from http import HTTPStatus

import orjson

from providers import http_outcomes
from providers.contract import Finding, ReceiptKind
from providers.transport import Reply, Response
from providers.verdicts import Verdict


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
    """Return the receipt of a failed SMS: bounced if the handset's side refused, else failed."""
    refused = verdict is not None and verdict.is_rejection
    return ReceiptKind.BOUNCED if refused else ReceiptKind.FAILED


def json_object(body: bytes) -> Mapping[str, object]:
    """Read a JSON object; any other text counts as an empty object."""
    try:
        parsed = orjson.loads(body)
    except ValueError:
        return {}
    return parsed if isinstance(parsed, dict) else {}
