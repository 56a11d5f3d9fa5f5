"""Verification of recipient tokens, without a web framework, for any process.

A token is checked in this order: form, algorithm, key, signature, claims, key's state, recipient. A
refused token therefore costs no query about a recipient unless its signature is good.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import jwt

from notifications.core import clock, feature
from notifications.core.rules import recipient_tokens
from notifications.core.rules.recipient_tokens import (
    ALGORITHM,
    AUDIENCE,
    LONGEST_TEXT,
    REQUIRED,
    SHOWN_ID,
    RecipientToken,
    Refusal,
    TokenClaims,
    TokenRefused,
)
from notifications.core.store.cached import recipient_ids
from notifications.core.store.cached.recipient_ids import KnownRecipient
from notifications.core.store.recipient_tokens import revocations, signing_keys
from notifications.core.store.recipient_tokens.signing_keys import SigningKey

_OPTIONS: Any = {
    "require": list(REQUIRED),
    "strict_aud": True,
    # `rules.recipient_tokens` compares the instants with Postgres's clock.
    **dict.fromkeys(("verify_exp", "verify_iat", "verify_nbf"), False),
}


def verify(text: str) -> RecipientToken:
    """Return the content of a valid token.

    Raises:
        TokenRefused: the token is not valid; the reason names the fault.
        django.db.OperationalError: the key or the recipient is not cached, and the database is
            away.
    """
    key_id = key_id_of(text)
    key = signing_keys.find(key_id) if feature.accepts_tokens() else None
    if key is None:
        raise TokenRefused(Refusal.UNKNOWN_KEY)
    payload: Mapping[str, object] = {}
    try:
        payload = _payload(text, key)
        claims = recipient_tokens.claims_of(payload, now=clock.now())
        _check_key(key, claims)
        return _token(key, claims)
    except TokenRefused as refused:
        refused.producer_id = key.producer_id
        refused.shown_id = str(payload.get("jti", ""))[:SHOWN_ID]
        raise


def key_id_of(text: str) -> str:
    """Return the `kid` in a token, without verification.

    Raises:
        TokenRefused: the text is no JWT with a `kid`.
    """
    if len(text) > LONGEST_TEXT or not text.isascii():
        raise TokenRefused(Refusal.MALFORMED)
    try:
        header: Mapping[str, object] = jwt.get_unverified_header(text)
    except jwt.InvalidTokenError:
        raise TokenRefused(Refusal.MALFORMED) from None
    if header.get("alg") != ALGORITHM:
        raise TokenRefused(Refusal.ALGORITHM)
    key_id = header.get("kid")
    if not isinstance(key_id, str) or not key_id:
        raise TokenRefused(Refusal.UNKNOWN_KEY, "there is no kid")
    return key_id


def _payload(text: str, key: SigningKey) -> Mapping[str, object]:
    """Check the signature and the audience; return the claims.

    Raises:
        TokenRefused: a check failed.
    """
    for secret in key.secrets:
        try:
            return jwt.decode(
                text, secret, algorithms=[ALGORITHM], audience=AUDIENCE, options=_OPTIONS
            )
        except jwt.InvalidSignatureError:
            continue
        except jwt.MissingRequiredClaimError as error:
            raise TokenRefused(Refusal.CLAIMS, f"{error.claim} is missing") from None
        except jwt.InvalidAudienceError:
            raise TokenRefused(Refusal.AUDIENCE) from None
        except jwt.InvalidAlgorithmError:
            raise TokenRefused(Refusal.ALGORITHM) from None
        except jwt.DecodeError:
            raise TokenRefused(Refusal.MALFORMED) from None
        except jwt.InvalidTokenError:
            raise TokenRefused(Refusal.CLAIMS) from None
    raise TokenRefused(Refusal.SIGNATURE)


def _check_key(key: SigningKey, claims: TokenClaims) -> None:
    if key.is_revoked:
        raise TokenRefused(Refusal.REVOKED)
    if not key.producer_is_active:
        raise TokenRefused(Refusal.PRODUCER)
    if claims.mode is not key.mode:
        raise TokenRefused(Refusal.MODE)
    if claims.issuer not in {"", key.producer_name}:
        raise TokenRefused(Refusal.CLAIMS, "iss is not the name of the key's producer")
    if beyond := claims.scopes - key.scopes:
        raise TokenRefused(Refusal.SCOPE, ", ".join(sorted(beyond)))


def _token(key: SigningKey, claims: TokenClaims) -> RecipientToken:
    revocations.follow()
    row = recipient_ids.find_recipient(mode=claims.mode, user_id=claims.user_id)
    if row is not None and claims.recipient_id > row.id:  # the kept recipient was erased
        row = recipient_ids.find_recipient(mode=claims.mode, user_id=claims.user_id, renew=True)
    if row is None:
        raise TokenRefused(Refusal.UNKNOWN_RECIPIENT)
    is_revoked = revocations.is_before(key, claims.issued_at, row.revoked_before)
    if is_revoked or _is_of_an_earlier_recipient(claims, row):
        raise TokenRefused(Refusal.REVOKED)
    return RecipientToken(
        recipient_id=row.id,
        user_id=claims.user_id,
        mode=claims.mode,
        producer_id=key.producer_id,
        key_id=key.key_id,
        scopes=claims.scopes,
        issued_at=claims.issued_at,
        expires_at=claims.expires_at,
        token_id=claims.token_id,
    )


def _is_of_an_earlier_recipient(claims: TokenClaims, row: KnownRecipient) -> bool:
    """Return True for a token of an erased recipient with a later user of the same id.

    A token from a token secret has the time of a producer's clock instead of the recipient's id.
    """
    if claims.recipient_id:
        return claims.recipient_id != row.id
    return claims.issued_at + recipient_tokens.CLOCK_SKEW < row.created_at
