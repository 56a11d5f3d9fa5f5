"""`/v1/recipients/{user_id}/client-tokens`: recipient tokens for apps and browsers."""

from __future__ import annotations

import datetime as dt
from typing import Annotated

from drf_spectacular.utils import extend_schema
from pydantic import Field
from rest_framework.request import Request
from rest_framework.response import Response

from notifications.core import clock
from notifications.core.api.authentication import actor_of, key_of, permit
from notifications.core.api.base_view import BaseView, parse_body
from notifications.core.api.recipient_access import recipient_for
from notifications.core.api.schemas import RequestModel, ResponseModel
from notifications.core.rules.recipient_tokens import (
    DEFAULT_LIFETIME,
    LONGEST_LIFETIME,
    SHORTEST_LIFETIME,
    TokenScope,
)
from notifications.core.store.recipient_tokens import revocations
from notifications.features.recipient_tokens import minting


class ClientTokenRequest(RequestModel):
    """Options of a recipient token."""

    expires_in_seconds: Annotated[
        int,
        Field(ge=int(SHORTEST_LIFETIME.total_seconds()), le=int(LONGEST_LIFETIME.total_seconds())),
    ] = int(DEFAULT_LIFETIME.total_seconds())
    scopes: Annotated[
        list[TokenScope],
        Field(
            min_length=1,
            max_length=len(TokenScope),
            default_factory=lambda: [TokenScope.RECEIPTS_WRITE],
        ),
    ]
    """Rights of the token. The key needs the same right for all recipients: `preferences:read`
    needs the key's scope `recipients:read`, and `receipts:write` needs no further scope."""


class ClientTokenIssued(ResponseModel):
    """A token for the app of one recipient."""

    token: str
    """For `Authorization: Bearer` in the recipient's app or browser. A JWT; ends by time, by
    revocation of the recipient's tokens, and with the API key."""
    scopes: list[TokenScope]
    expires_at: dt.datetime


class ClientTokenListView(BaseView):
    """`/v1/recipients/{user_id}/client-tokens`: issue a token, revoke all."""

    @extend_schema(
        operation_id="issue_client_token",
        summary="Issue a token for the app of a recipient",
        request=ClientTokenRequest,
        responses={201: ClientTokenIssued},
        tags=["Tokens"],
    )
    def post(self, request: Request, user_id: str) -> Response:
        """Return a token with which the recipient's app or browser calls the service.

        Call this from the app's own backend, for the signed-in user, and pass the token to the app.
        The token reaches this recipient in this mode, with the given scopes, and nothing else.
        """
        wanted = parse_body(request.data, ClientTokenRequest)
        for scope in set(wanted.scopes) - {TokenScope.RECEIPTS_WRITE}:
            permit(request, part=scope)
        recipient = recipient_for(request, user_id)
        token = minting.mint(
            recipient.user_id,
            recipient_id=recipient.pk,
            key=key_of(request),
            scopes=wanted.scopes,
            lifetime=dt.timedelta(seconds=wanted.expires_in_seconds),
            now=clock.now(),
        )
        told = ClientTokenIssued(
            token=token.text, scopes=sorted(token.scopes), expires_at=token.expires_at
        )
        answer = Response(told.to_json(), status=201)
        answer["Cache-Control"] = "no-store"
        return answer

    @extend_schema(
        operation_id="revoke_client_tokens",
        summary="Revoke the tokens of a recipient",
        responses={204: None},
        tags=["Tokens"],
    )
    def delete(self, request: Request, user_id: str) -> Response:
        """Revoke all tokens of the recipient in the key's mode that were issued until now.

        Tokens from a token secret, too; of these, tokens of the next 5 seconds are refused as well,
        because the clock of the producer sets the time of issue. The call acts within 2 seconds,
        and ends open streams.
        """
        recipient = recipient_for(request, user_id)
        revocations.revoke(recipient, by=actor_of(request))
        return Response(status=204)
