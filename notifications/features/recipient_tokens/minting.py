"""New recipient tokens, signed by the service for an API key."""

from __future__ import annotations

import datetime as dt
import secrets
from collections.abc import Iterable
from dataclasses import dataclass, field

import jwt

from notifications.core.rules import recipient_tokens
from notifications.core.rules.recipient_tokens import TokenClaims, TokenScope
from notifications.core.store.postgres.api_keys import KnownKey
from notifications.core.store.recipient_tokens import signing_keys


@dataclass(frozen=True, slots=True, kw_only=True)
class NewToken:
    """A new token."""

    text: str = field(repr=False)
    scopes: frozenset[TokenScope]
    expires_at: dt.datetime


def mint(
    user_id: str,
    *,
    recipient_id: int = 0,
    key: KnownKey,
    scopes: Iterable[TokenScope],
    lifetime: dt.timedelta,
    now: dt.datetime,
) -> NewToken:
    """Sign a token for a recipient of the key's mode. Stores nothing.

    With `recipient_id` the token ends with that recipient, also if the user id is used again.
    """
    claims = TokenClaims(
        user_id=user_id,
        mode=key.mode,
        scopes=frozenset(scopes),
        issued_at=now,
        expires_at=(now + lifetime).replace(microsecond=0),
        token_id=secrets.token_urlsafe(12),
        issuer=key.producer_name,
        recipient_id=recipient_id,
    )
    text = jwt.encode(
        recipient_tokens.payload_of(claims),
        signing_keys.of_api_key(key.prefix)[0],
        algorithm=recipient_tokens.ALGORITHM,
        headers={"kid": key.prefix},
    )
    return NewToken(text=text, scopes=claims.scopes, expires_at=claims.expires_at)
