"""`/v1/receipts/{provider}`: delivery receipts and inbound SMS from providers.

The path needs no key: the adapter verifies the provider's signature. A GET answers the challenge of
a vendor that verifies the URL first (Meta), or is a receipt of a vendor that reports by GET.
"""

from __future__ import annotations

import datetime as dt
from typing import Final

from django.http import HttpResponse
from drf_spectacular.types import OpenApiTypes
from drf_spectacular.utils import extend_schema
from rest_framework.request import Request
from rest_framework.response import Response

from notifications.core import conf
from notifications.core.api.address_limits import raise_failed
from notifications.core.api.base_view import OpenView, raise_not_found
from notifications.core.api.examples import DELIVERY, Example
from notifications.core.api.json_io import RawParser
from notifications.core.api.operation import Access, Call, operation
from notifications.core.api.problems import raise_problem
from notifications.core.api.schemas import ResponseModel
from notifications.core.delivery import routing
from notifications.core.feedback import delivery_receipts, inbound_sms
from notifications.core.rules.access import Entry
from notifications.core.rules.problems import Kind, Problem
from notifications.core.store.redis import last_receipts
from providers.contract import (
    AnswersChallenge,
    InboundText,
    Provider,
    Receipt,
    ReceiptRequest,
    Removal,
    Said,
)
from providers.errors import CannotVerify, InvalidSignature, MalformedReceipt, NoReceipts

_SIGNATURE: Final = {
    "webhook-id": "msg_1",
    "webhook-timestamp": "1793000000",
    "webhook-signature": "v1,K5oZfzN95Z9UVu1EsfQmfVNQhnkZ2pj9o9NDN/H/pI4=",
}
_AGAIN: Final = dt.timedelta(seconds=30)


class ReceiptsTaken(ResponseModel):
    """The number of receipts in the callback."""

    receipts: int
    matched: int
    """Receipts which changed a delivery."""


class _View(OpenView):
    parser_classes = (RawParser,)

    @extend_schema(exclude=True)
    def get(self, request: Request, provider: str) -> HttpResponse:
        """Answer the challenge of a vendor that verifies the URL, or record a receipt by GET."""
        adapter = routing.provider_named(provider)
        if adapter is not None and adapter.capabilities.receipts_by_get:
            said = _parse(adapter, request)
            if request.method == "GET":  # Django answers a HEAD by the same method
                _record(adapter, said)
            return HttpResponse("OK", content_type="text/plain")
        if not isinstance(adapter, AnswersChallenge):
            raise_not_found("provider that verifies the URL of its callbacks")
        try:
            text = adapter.answer_challenge(request.query_params.dict())
        except InvalidSignature as error:
            raise_failed(request, Problem(Kind.UNAUTHENTICATED, str(error)))
        return HttpResponse(text, content_type="text/plain")


@operation(
    "POST v1/receipts/<slug:provider>",
    "Receive a provider's callback",
    Access(Entry.SIGNED),
    answers={200: ReceiptsTaken, 204: None},
    tag="Receipts",
    is_idempotent=False,
    raw_body={"application/json": OpenApiTypes.ANY},
    base=_View,
    examples={
        "minimal": Example(
            "The sandbox reports a delivered message",
            path={"provider": "sandbox"},
            headers=_SIGNATURE,
            mode=None,
            body={
                "receipts": [
                    {
                        "kind": "delivered",
                        "delivery_id": DELIVERY,
                        "message_id": "sbx-1",
                        "occurred_at": "2026-11-01T18:30:00Z",
                    }
                ]
            },
        ),
        "nothing": Example(
            "The sandbox sends an empty callback",
            path={"provider": "sandbox"},
            headers=_SIGNATURE,
            mode=None,
            body={"receipts": []},
        ),
    },
)
def take_receipts(call: Call) -> ReceiptsTaken | Response:
    """Record the receipts and inbound messages of a provider's callback.

    Early, late and repeated receipts are safe. A receipt for an unknown message is only
    counted. A callback with inbound messages only gets a 204 response.
    """
    adapter = routing.provider_named(call.path["provider"])
    if adapter is None:
        raise_not_found("provider")
    _check_head(adapter, call.request)
    said = _parse(adapter, call.request)
    taken = _record(adapter, said)
    if any(isinstance(each, InboundText) for each in said) and not taken.receipts:
        # A vendor may send the body of this response to the person as a reply.
        return Response(status=204)
    return taken


def _record(adapter: Provider, said: list[Said]) -> ReceiptsTaken:
    """Record the receipts, inbound messages and removals of a callback."""
    receipts = [each for each in said if isinstance(each, Receipt)]
    texts = [each for each in said if isinstance(each, InboundText)]
    if said:
        last_receipts.note(adapter.name)
    removals = [each for each in said if isinstance(each, Removal)]
    delivery_receipts.record_removals(adapter.name, removals)
    inbound_sms.process(adapter.name, texts)
    matched = delivery_receipts.record(adapter.name, receipts)
    return ReceiptsTaken(receipts=len(receipts), matched=matched)


def _check_head(adapter: Provider, request: Request) -> None:
    """Refuse a request which cannot be a receipt before the body is read.

    Raises:
        ProblemError: the provider sends no receipts (404), or the signature header is missing
            (401).
    """
    if not adapter.capabilities.gives_receipts:
        raise_not_found("provider that sends receipts")
    missing = [name for name in adapter.capabilities.receipt_headers if name not in request.headers]
    if missing:
        said = f"the header {min(missing)} is missing"
        raise_failed(request, Problem(Kind.UNAUTHENTICATED, said))


def _parse(adapter: Provider, request: Request) -> list[Said]:
    # For an empty body DRF gives an empty form instead of bytes.
    raw: object = request.data
    call = ReceiptRequest(
        # The public URL: some providers sign the URL they called, not the URL behind a proxy.
        url=conf.current().public_url + request.get_full_path(),
        headers={name.lower(): value for name, value in request.headers.items()},
        body=raw if isinstance(raw, bytes) else b"",
    )
    try:
        return list(adapter.parse_receipt(call))
    except InvalidSignature as error:
        said = str(error) or "the signature is wrong"
        raise_failed(request, Problem(Kind.UNAUTHENTICATED, said))
    except MalformedReceipt as error:
        raise_problem(Problem(Kind.MALFORMED, str(error) or "the receipt cannot be read"))
    except CannotVerify as error:
        said = str(error) or "the signature cannot be checked now; call again"
        raise_problem(Problem(Kind.UNAVAILABLE, said, retry_after=_AGAIN))
    except NoReceipts:
        raise_not_found("provider that sends receipts")
