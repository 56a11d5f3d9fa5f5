"""What SMS vendors have in common: no key against repeats, and receipts that tell why."""

from __future__ import annotations

from collections.abc import Mapping
from http import HTTPStatus

import orjson

from providers import http_outcomes
from providers.contract import Finding, ReceiptKind
from providers.transport import Reply, Response
from providers.verdicts import Verdict


def page(reply: Reply) -> Mapping[str, object] | Finding:
    """Give what an account's page says, or tell a person why it cannot be read."""
    if isinstance(reply, Response) and reply.status == HTTPStatus.OK:
        return json_object(reply.body)
    finding = http_outcomes.reachability(reply)
    refused = isinstance(reply, Response) and reply.status in http_outcomes.MISCONFIGURED
    subject = "credentials" if refused else finding.subject
    return Finding(subject=subject, is_good=False, detail=finding.detail)


def of_balance(amount: object, *, currency: str) -> Finding:
    """Tell a person what an account may still spend; `amount` is as the vendor writes it."""
    try:
        balance = float(str(amount))
    except ValueError:
        return Finding(subject="quota", is_good=False, detail="the balance could not be read")
    return Finding(subject="quota", is_good=balance > 0, detail=f"balance {balance:.2f} {currency}")


def kind_of_loss(verdict: Verdict | None) -> ReceiptKind:
    """Tell an SMS that the handset's side refused from one that got lost on ours."""
    refused = verdict is not None and verdict.is_rejection
    return ReceiptKind.BOUNCED if refused else ReceiptKind.FAILED


def json_object(body: bytes) -> Mapping[str, object]:
    """Read a JSON object; anything else counts as an empty one."""
    try:
        parsed = orjson.loads(body)
    except ValueError:
        return {}
    return parsed if isinstance(parsed, dict) else {}
