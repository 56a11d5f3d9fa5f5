"""`/v1/receipts/client`: receipts from apps.

Pages and service workers of every origin may call the path (see `cors`). That is safe: the call
needs a token in a header, which no browser adds by itself.
"""

from __future__ import annotations

from typing import Annotated, Final, Self
from uuid import UUID

from pydantic import AwareDatetime, BeforeValidator, Field, model_validator
from rest_framework.request import Request

from notifications.core.api.address_limits import check_token, raise_failed
from notifications.core.api.base_view import parse_body
from notifications.core.api.examples import CLIENT_TOKEN, DELIVERY, NOTIFICATION, Example
from notifications.core.api.operation import Access, Call, operation
from notifications.core.api.receipts import ReceiptsTaken
from notifications.core.api.recipient_access import bearer_of, check_scope, verified_token
from notifications.core.api.schemas import RequestModel
from notifications.core.feedback import client_receipts
from notifications.core.feedback.client_receipts import ClientReceipt
from notifications.core.rules import request_faults
from notifications.core.rules.access import Entry
from notifications.core.rules.client_receipts import ClientReceiptKind, TokenHolder
from notifications.core.rules.problems import Kind, Problem
from notifications.core.rules.recipient_tokens import TokenScope
from notifications.core.rules.request import written_instant

_APP: Final = {"Authorization": f"Bearer {CLIENT_TOKEN}"}
MOST: Final = 100
"""Receipts in one call."""


class ClientReceiptReport(RequestModel):
    """A report of an app: exactly one of `delivery_id` and `notification_id`."""

    delivery_id: UUID | None = None
    """The id in the payload of the message; best where a recipient has several devices."""
    notification_id: UUID | None = None
    """Stands for the notification's push or in-app delivery to the recipient, or for its only
    delivery. Of several devices the first that was reached counts."""
    kind: ClientReceiptKind
    occurred_at: Annotated[AwareDatetime, BeforeValidator(written_instant)] | None = None
    """Time of the event by the device's clock."""

    @model_validator(mode="after")
    def _check_one(self) -> Self:
        if (self.delivery_id is None) == (self.notification_id is None):
            said = "give either delivery_id or notification_id"
            raise request_faults.error_at(said, "delivery_id")
        return self

    def as_receipt(self) -> ClientReceipt:
        """Return the report for the feedback stage."""
        subject = self.delivery_id or self.notification_id
        assert subject is not None  # noqa: S101 - `_check_one` has checked it
        return ClientReceipt(kind=self.kind, subject=subject, occurred_at=self.occurred_at)


class ClientReceiptsRequest(RequestModel):
    """Reports of one app."""

    receipts: Annotated[list[ClientReceiptReport], Field(min_length=1, max_length=MOST)]


@operation(
    "POST v1/receipts/client",
    "Receive receipts from a recipient's app",
    Access(Entry.RECIPIENT, token_scope=TokenScope.RECEIPTS_WRITE),
    answers={200: ReceiptsTaken},
    tag="Receipts",
    is_idempotent=False,
    raw_body=ClientReceiptsRequest,
    examples={
        "minimal": Example(
            "The app got a message",
            headers=_APP,
            mode=None,
            body={"receipts": [{"delivery_id": DELIVERY, "kind": "received"}]},
        ),
        "usual": Example(
            "Two events of one message, kept while the device was offline",
            headers=_APP,
            mode=None,
            body={
                "receipts": [
                    {
                        "notification_id": NOTIFICATION,
                        "kind": "received",
                        "occurred_at": "2026-11-01T18:30:00Z",
                    },
                    {
                        "notification_id": NOTIFICATION,
                        "kind": "clicked",
                        "occurred_at": "2026-11-01T18:31:07Z",
                    },
                ]
            },
        ),
    },
)
def take_client_receipts(call: Call) -> ReceiptsTaken:
    """Record that the app got a message, or that the person dismissed, opened or clicked it.

    Early, late and repeated receipts are safe. A receipt about another recipient's message, or
    about an unknown message, is only counted.
    """
    holder = _holder(call.request)
    said = parse_body(call.request.data, ClientReceiptsRequest)
    matched = client_receipts.record(holder, [each.as_receipt() for each in said.receipts])
    return ReceiptsTaken(receipts=len(said.receipts), matched=matched)


def _holder(request: Request) -> TokenHolder:
    """Return the recipient of the request's token, and count the call.

    Raises:
        ProblemError: the token is missing, forged or expired (401), lacks the scope (403), or the
            token, the recipient or the client's address sent too many requests (429).
    """
    text = bearer_of(request)
    if not text:
        said = "send Authorization: Bearer <recipient token>"
        raise_failed(request, Problem(Kind.UNAUTHENTICATED, said))
    token = verified_token(request, text)
    check_scope(token, TokenScope.RECEIPTS_WRITE)
    check_token(token)
    return TokenHolder(recipient_id=token.recipient_id, mode=token.mode)
