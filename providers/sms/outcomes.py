"""What SMS vendors have in common: no key against repeats, and receipts that tell why."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from http import HTTPStatus
from typing import Final

import orjson

from providers import http_outcomes
from providers.contract import Finding, Outcome, ReceiptKind, Unanswered
from providers.transport import Reply, Response
from providers.verdicts import Verdict

PERHAPS_CREATED: Final = frozenset({
    HTTPStatus.INTERNAL_SERVER_ERROR,
    HTTPStatus.BAD_GATEWAY,
    HTTPStatus.GATEWAY_TIMEOUT,
})
"""It broke after it had read the message, so an SMS may be on its way; 503 is said before."""


def outcome_of(reply: Reply, *, accepted: Callable[[Response], Outcome], hide: str) -> Outcome:
    """Judge what the vendor explains no further; as `http_outcomes.outcome_of`."""
    if isinstance(reply, Response) and reply.status in PERHAPS_CREATED:
        detail = http_outcomes.excerpt(reply.body, hide=hide)
        return Unanswered(code=str(reply.status), detail=detail)
    return http_outcomes.outcome_of(reply, accepted=accepted, hide=hide)


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
    refused = verdict in {Verdict.REJECTED, Verdict.DEAD}
    return ReceiptKind.BOUNCED if refused else ReceiptKind.FAILED


def json_object(body: bytes) -> Mapping[str, object]:
    """Read a JSON object; anything else counts as an empty one."""
    try:
        parsed = orjson.loads(body)
    except ValueError:
        return {}
    return parsed if isinstance(parsed, dict) else {}
