"""What SMS vendors have in common: no key against repeats, and receipts that tell why."""

from __future__ import annotations

from collections.abc import Mapping
from http import HTTPStatus
from typing import Final

import orjson

from providers import http_outcomes
from providers.contract import Outcome, ReceiptKind, Unanswered
from providers.transport import Response
from providers.verdicts import Verdict

PERHAPS_CREATED: Final = frozenset({
    HTTPStatus.INTERNAL_SERVER_ERROR,
    HTTPStatus.BAD_GATEWAY,
    HTTPStatus.GATEWAY_TIMEOUT,
})
"""It broke after it had read the message, so an SMS may be on its way; 503 is said before."""


def of_status(response: Response, *, detail: str) -> Outcome:
    """Judge an HTTP error that the vendor explains no further."""
    if response.status in PERHAPS_CREATED:
        return Unanswered(code=str(response.status), detail=detail)
    return http_outcomes.of_status(response, detail=detail)


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
