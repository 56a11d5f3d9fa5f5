"""`/v1/recipients/{user_id}/client-tokens`: recipient tokens for apps and browsers."""

from __future__ import annotations

import datetime as dt
from typing import Annotated, Final

from pydantic import Field

from notifications.core import clock
from notifications.core.api.authentication import permit
from notifications.core.api.examples import USER, Example
from notifications.core.api.operation import Access, Call, operation
from notifications.core.api.schemas import RequestModel, ResponseModel
from notifications.core.rules.access import BOTH
from notifications.core.rules.recipient_tokens import (
    DEFAULT_LIFETIME,
    LONGEST_LIFETIME,
    SHORTEST_LIFETIME,
    TokenScope,
)
from notifications.core.rules.scopes import Scope
from notifications.core.store.recipient_tokens import revocations
from notifications.features.recipient_tokens import minting

_PATH: Final = "v1/recipients/<str:user_id>/client-tokens"
_USER: Final = {"user_id": USER}


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


@operation(
    f"POST {_PATH}",
    "Issue a token for the app of a recipient",
    Access(Scope.RECIPIENTS_WRITE),
    ClientTokenRequest,
    answers={201: ClientTokenIssued},
    tag="Tokens",
    is_idempotent=False,
    shows_secret=True,
    parts={
        TokenScope.INBOX_READ: Access(Scope.INBOX_READ),
        TokenScope.INBOX_WRITE: Access(Scope.INBOX_WRITE),
        TokenScope.PREFERENCES_READ: Access(Scope.RECIPIENTS_READ),
        TokenScope.PREFERENCES_WRITE: Access(Scope.PREFERENCES_WRITE),
        TokenScope.CONTACTS_WRITE: Access(Scope.CONTACTS_WRITE),
    },
    examples={
        "minimal": Example("A token for an hour", path=_USER, body={}),
        "usual": Example(
            "A token for the inbox and for receipts, for a day",
            path=_USER,
            body={
                "expires_in_seconds": 86_400,
                "scopes": ["inbox:read", "inbox:write", "receipts:write"],
            },
        ),
    },
)
def issue_client_token(call: Call, wanted: ClientTokenRequest) -> ClientTokenIssued:
    """Return a token with which the recipient's app or browser calls the service.

    Call this from the app's own backend, for the signed-in user, and pass the token to the app.
    The token reaches this recipient in this mode, with the given scopes, and nothing else.
    """
    for scope in set(wanted.scopes) - {TokenScope.RECEIPTS_WRITE}:
        permit(call.request, part=scope)
    recipient = call.recipient()
    token = minting.mint(
        recipient.user_id,
        recipient_id=recipient.pk,
        key=call.key,
        scopes=wanted.scopes,
        lifetime=dt.timedelta(seconds=wanted.expires_in_seconds),
        now=clock.now(),
    )
    return ClientTokenIssued(
        token=token.text, scopes=sorted(token.scopes), expires_at=token.expires_at
    )


@operation(
    f"DELETE {_PATH}",
    "Revoke the tokens of a recipient",
    Access(Scope.RECIPIENTS_WRITE, BOTH, "change_recipient"),
    answers={204: None},
    tag="Tokens",
    examples={
        "minimal": Example("Sign the recipient out everywhere", path=_USER),
        "usual": Example("After a token was stolen", path=_USER),
    },
)
def revoke_client_tokens(call: Call) -> None:
    """Revoke all tokens of the recipient in the key's mode that were issued until now.

    Tokens from a token secret, too; of these, tokens of the next 5 seconds are refused as well,
    because the clock of the producer sets the time of issue. The call acts within 2 seconds,
    and ends open streams.
    """
    revocations.revoke(call.recipient(), by=call.by)
