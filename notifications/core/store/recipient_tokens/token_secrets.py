"""Token secrets: a producer signs recipient tokens with a secret, without a call to the service.

A secret has the form `nts_live_4f9k2m7q_<64 hexadecimal digits>`; the whole text is the HMAC key.
The part before the last underscore is the `kid`, which is public. The digits are derived from the
encryption key of the installation and the `kid`, so the database holds no secret: a reader of the
database signs nothing. The fingerprint tells which of several encryption keys made the secret; a
secret ends when its encryption key is removed.
"""

from __future__ import annotations

import datetime as dt
import hashlib
import hmac
import secrets
import string
from collections.abc import Iterable, Mapping
from typing import Final

from django.db import transaction
from django.db.models import QuerySet

from notifications.core import clock
from notifications.core.models import Producer, TokenSecret
from notifications.core.rules.lane import Mode
from notifications.core.rules.recipient_tokens import TokenScope
from notifications.core.store.cached.ttl_cache import Fresh
from notifications.core.store.postgres import secret_variables

PREFIX: Final = "nts_"
OVERLAP: Final = dt.timedelta(days=7)
"""Default time for which a rotated secret still signs."""
_ALPHABET: Final = string.ascii_lowercase + string.digits
_PUBLIC_LENGTH: Final = 8
_PURPOSE: Final = b"token-secret"


class SecretNotRotatable(Exception):
    """The secret is revoked, expired, or already rotated; use the replacement."""


def create(
    producer: Producer,
    *,
    mode: Mode,
    scopes: Iterable[str] = TokenScope,
    note: str = "",
    by: str = "",
) -> tuple[TokenSecret, str]:
    """Create a secret; return the row and the secret, which is shown once.

    Raises:
        ValueError: a scope is unknown, or there is none.
    """
    names = sorted(set(scopes))
    if not names or set(names) - set(TokenScope):
        msg = f"scopes of a token secret are one or more of {', '.join(sorted(TokenScope))}"
        raise ValueError(msg)
    public = "".join(secrets.choice(_ALPHABET) for _ in range(_PUBLIC_LENGTH))
    key_id = f"{PREFIX}{mode.label}_{public}"
    text = _texts(key_id)[0]
    row = TokenSecret.objects.create(
        producer=producer,
        key_id=key_id,
        fingerprint=fingerprint(text),
        mode=mode,
        scopes=names,
        note=note,
        created_by=by,
    )
    return row, text


def rotate(secret: TokenSecret, *, overlap: dt.timedelta, by: str) -> tuple[TokenSecret, str]:
    """Create a replacement with the same scopes; the old secret signs for `overlap` longer.

    Raises:
        SecretNotRotatable: the secret is revoked, expired or already rotated.
    """
    with transaction.atomic():
        old = TokenSecret.objects.select_for_update().select_related("producer").get(pk=secret.pk)
        now = clock.now()
        if old.revoked_at is not None or (old.expires_at is not None and old.expires_at <= now):
            raise SecretNotRotatable(f"{old.key_id} is revoked or expired")
        if TokenSecret.objects.filter(replaces=old).exists():
            raise SecretNotRotatable(f"{old.key_id} was rotated before")
        row, text = create(
            old.producer, mode=Mode(old.mode), scopes=old.scopes, note=old.note, by=by
        )
        row.replaces = old
        row.save(update_fields=("replaces",))
        old.expires_at = now + overlap
        old.save(update_fields=("expires_at",))
    return row, text


def revoke(rows: QuerySet[TokenSecret], *, by: str) -> int:
    """End secrets and all tokens of the secrets; return the number of secrets that were active."""
    return rows.filter(revoked_at=None).update(revoked_at=clock.now(), revoked_by=by)


def state_of(row: TokenSecret, *, now: dt.datetime) -> str:
    """Return `active`, `expired`, `revoked` or `lost`: the encryption key was removed."""
    if row.revoked_at is not None:
        return "revoked"
    if row.expires_at is not None and row.expires_at <= now:
        return "expired"
    return "active" if text_of(row) else "lost"


def text_of(row: TokenSecret) -> str:
    """Return the secret of a row; empty: the encryption key that made the secret was removed."""
    texts = [each for each in _texts(row.key_id) if fingerprint(each) == row.fingerprint]
    return texts[0] if texts else ""


def fingerprint(text: str) -> str:
    """Return 16 hexadecimal digits as the name of a secret."""
    return hashlib.sha256(text.encode()).hexdigest()[:16]


@Fresh
def every() -> Mapping[str, TokenSecret]:
    """Return all secrets with their producers, by `kid`."""
    return {row.key_id: row for row in TokenSecret.objects.select_related("producer")}


forget = every.forget


def _texts(key_id: str) -> list[str]:
    """Return the secret of a `kid` under each encryption key, the current key first."""
    keys = secret_variables.derive(_PURPOSE)
    return [f"{key_id}_{hmac.digest(key, key_id.encode(), 'sha256').hex()}" for key in keys]
