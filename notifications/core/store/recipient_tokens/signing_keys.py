"""The keys that sign recipient tokens, by the `kid` of a token's header.

A `kid` is the public part of a token secret, with which a producer signs tokens itself, or the
prefix of the API key that asked the service for the token; so a revoked API key ends its tokens.
For an API key the HMAC key is derived from the secret keys of the installation and the prefix: no
key of a producer signs tokens of another producer. The first secret key signs, any key verifies
(NOTIFY_SECRET_KEY_FALLBACKS).
"""

from __future__ import annotations

import datetime as dt
import functools
import hashlib
import hmac
from dataclasses import dataclass, field
from typing import Final

from django.conf import settings

from notifications.core import clock
from notifications.core.rules.lane import Mode
from notifications.core.rules.recipient_tokens import CLOCK_SKEW, TokenScope
from notifications.core.store.postgres import api_keys
from notifications.core.store.recipient_tokens import token_secrets

_PURPOSE: Final = b"notifications.recipient_tokens"


@dataclass(frozen=True, slots=True, kw_only=True)
class SigningKey:
    """A signing key for the tokens of a producer and mode."""

    key_id: str
    producer_id: int
    producer_name: str
    producer_is_active: bool
    mode: Mode
    is_revoked: bool
    secrets: tuple[bytes, ...] = field(repr=False)
    """HMAC keys: the first signs, each verifies."""
    scopes: frozenset[str] = frozenset(TokenScope)
    """Scopes that a token of the key may have."""
    clock_skew: dt.timedelta = dt.timedelta(0)
    """Possible error of `iat`: a producer's own clock sets `iat` of tokens from a token secret."""


def find(key_id: str) -> SigningKey | None:
    """Return the key of a `kid`; None for an unknown key.

    Raises:
        django.db.OperationalError: the key is not cached, and the database is away.
    """
    if key_id.startswith(token_secrets.PREFIX):
        return _of_secret(key_id)
    known = api_keys.of_prefix(key_id)
    if known is None:
        return None
    return SigningKey(
        key_id=known.prefix,
        producer_id=known.producer_id,
        producer_name=known.producer_name,
        producer_is_active=known.producer_is_active,
        mode=known.mode,
        is_revoked=known.is_revoked,
        secrets=of_api_key(known.prefix),
    )


def _of_secret(key_id: str) -> SigningKey | None:
    row = token_secrets.every().get(key_id)
    if row is None:
        return None
    text = token_secrets.text_of(row)
    return SigningKey(
        key_id=key_id,
        producer_id=row.producer.pk,
        producer_name=row.producer.name,
        producer_is_active=row.producer.is_active,
        mode=Mode(row.mode),
        is_revoked=token_secrets.state_of(row, now=clock.now()) != "active",
        secrets=(text.encode(),) if text else (),
        scopes=frozenset(row.scopes),
        clock_skew=CLOCK_SKEW,
    )


def is_cached(key_id: str) -> bool:
    """Return True if `find` makes no query for a guessed key."""
    return key_id.startswith(token_secrets.PREFIX) or api_keys.is_cached(key_id)


def of_api_key(prefix: str) -> tuple[bytes, ...]:
    """Return the HMAC keys for the tokens of an API key, the signing key first."""
    return _derive(prefix, settings.SECRET_KEY, *settings.SECRET_KEY_FALLBACKS)


@functools.lru_cache(maxsize=1_000)
def _derive(prefix: str, *secrets: str) -> tuple[bytes, ...]:
    bases = [hmac.digest(each.encode(), _PURPOSE, hashlib.sha256) for each in secrets]
    return tuple(hmac.digest(each, prefix.encode(), hashlib.sha256) for each in bases)
