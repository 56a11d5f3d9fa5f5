"""`/v1/receipts/client` and `/v1/recipients/{user_id}/client-tokens`: receipts from apps.

Browsers call `/v1/receipts/client` from the pages and service workers of other sites, so this path
alone answers CORS preflights and permits every origin. That is safe: the call needs a token in a
header, which no browser adds by itself, and credentials such as cookies are not permitted.
"""

from __future__ import annotations

import datetime as dt
from typing import Annotated, Any, Final, Self
from uuid import UUID

from django.http import HttpRequest
from drf_spectacular.utils import extend_schema
from pydantic import AwareDatetime, BeforeValidator, Field, model_validator
from rest_framework.request import Request
from rest_framework.response import Response

from notifications import clock
from notifications.api.address_limits import check_recipient, raise_failed
from notifications.api.authentication import key_of
from notifications.api.base_view import BaseView, OpenView, parse_body
from notifications.api.receipts import ReceiptsTaken
from notifications.api.recipients import get_recipient
from notifications.api.schemas import RequestModel, ResponseModel
from notifications.feedback import client_receipts, client_tokens
from notifications.feedback.client_receipts import ClientReceipt
from notifications.rules import request_faults
from notifications.rules.client_receipts import ClientReceiptKind, TokenHolder
from notifications.rules.problems import Kind, Problem
from notifications.rules.request import written_instant

MOST: Final = 100
"""Receipts in one call."""
_PREFLIGHT: Final = {
    "Access-Control-Allow-Methods": "POST",
    "Access-Control-Allow-Headers": "authorization, content-type",
    "Access-Control-Max-Age": "86400",
}


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


class ClientTokenRequest(RequestModel):
    """Options of a client token."""

    expires_in_seconds: Annotated[
        int, Field(ge=60, le=int(client_tokens.LONGEST_LIFETIME.total_seconds()))
    ] = int(client_tokens.DEFAULT_LIFETIME.total_seconds())


class ClientTokenIssued(ResponseModel):
    """A token for the app of one recipient."""

    token: str
    """For `Authorization: Bearer` at `/v1/receipts/client`. Ends by time only."""
    expires_at: dt.datetime


class ClientTokenListView(BaseView):
    """`/v1/recipients/{user_id}/client-tokens`: issue a token."""

    @extend_schema(
        operation_id="issue_client_token",
        summary="Issue a token for the app of a recipient",
        request=ClientTokenRequest,
        responses={201: ClientTokenIssued},
        tags=["Recipients"],
    )
    def post(self, request: Request, user_id: str) -> Response:
        """Return a token with which the recipient's app sends client receipts.

        Call this from the app's own backend, for the signed-in user, and pass the token to the app.
        The token permits receipts about deliveries of this recipient and mode, and nothing else.
        """
        wanted = parse_body(request.data, ClientTokenRequest)
        recipient = get_recipient(request, user_id)
        token = client_tokens.issue(
            TokenHolder(recipient_id=recipient.pk, mode=key_of(request).mode),
            lifetime=dt.timedelta(seconds=wanted.expires_in_seconds),
            now=clock.now(),
        )
        told = ClientTokenIssued(token=token.text, expires_at=token.expires_at)
        answer = Response(told.to_json(), status=201)
        answer["Cache-Control"] = "no-store"
        return answer


class ClientReceiptView(OpenView):
    """`/v1/receipts/client`: receipts from the app of a recipient."""

    http_method_names = ["post", "options"]  # noqa: RUF012 - Django's

    @extend_schema(
        operation_id="take_client_receipts",
        summary="Receive receipts from a recipient's app",
        request=ClientReceiptsRequest,
        responses={200: ReceiptsTaken},
        tags=["Receipts"],
    )
    def post(self, request: Request) -> Response:
        """Record that the app got a message, or that the person dismissed, opened or clicked it.

        Early, late and repeated receipts are safe. A receipt about another recipient's message, or
        about an unknown message, is only counted.
        """
        holder = _holder(request)
        check_recipient(holder.recipient_id)
        said = parse_body(request.data, ClientReceiptsRequest)
        matched = client_receipts.record(holder, [each.as_receipt() for each in said.receipts])
        return Response(ReceiptsTaken(receipts=len(said.receipts), matched=matched).to_json())

    def options(self, request: HttpRequest, *args: object, **kwargs: object) -> Response:
        """Answer the preflight of a browser."""
        del request, args, kwargs
        return Response(status=204, headers=_PREFLIGHT)

    def finalize_response(
        self,
        request: Request,
        response: Response,
        *args: Any,  # noqa: ANN401 - DRF's signature
        **kwargs: Any,  # noqa: ANN401 - DRF's signature
    ) -> Response:
        """Let pages of every origin read the answer, a problem too."""
        response["Access-Control-Allow-Origin"] = "*"
        response["Access-Control-Expose-Headers"] = "Retry-After"
        return super().finalize_response(request, response, *args, **kwargs)


def _holder(request: Request) -> TokenHolder:
    """Return the recipient of the request's token.

    Raises:
        ProblemError: the token is missing, forged or expired (401), or the client's address sent
            too many wrong tokens (429).
    """
    scheme, _, token = request.headers.get("Authorization", "").partition(" ")
    if scheme.lower() != "bearer" or not token:
        said = "send Authorization: Bearer <client token>"
        raise_failed(request, Problem(Kind.UNAUTHENTICATED, said))
    holder = client_tokens.read(token.strip(), now=clock.now())
    if holder is None:
        said = "the client token is wrong or has expired; get a new token from the app's backend"
        invalid = Problem(Kind.UNAUTHENTICATED, said, challenge='error="invalid_token"')
        raise_failed(request, invalid)
    return holder
