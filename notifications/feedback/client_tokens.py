"""Client tokens: the right of one recipient's app to send receipts, for a short time.

    POST /v1/recipients/{user_id}/client-tokens ── issue(holder) ──> token
    POST /v1/receipts/client ── read(token) ──> TokenHolder

A producer's key must never be in an app, because everybody can read the app. A token names the
recipient, the mode and the end of its validity, is signed, and needs no database row. A stolen
token lets the thief report on deliveries of that recipient, and nothing else, until the end. The
first secret key signs, any key verifies (NOTIFY_SECRET_KEY_FALLBACKS). Tokens are never logged.
"""

from __future__ import annotations

import datetime as dt
from dataclasses import dataclass, field
from typing import Final

from django.conf import settings

from notifications.rules import signed_token
from notifications.rules.client_receipts import TokenHolder
from notifications.rules.lane import Mode
from notifications.rules.signed_token import Key

_PURPOSE: Final = "notifications.client_receipts"
DEFAULT_LIFETIME: Final = dt.timedelta(hours=1)
LONGEST_LIFETIME: Final = dt.timedelta(days=1)


@dataclass(frozen=True, slots=True, kw_only=True)
class ClientToken:
    """A new token."""

    text: str = field(repr=False)
    expires_at: dt.datetime


def issue(holder: TokenHolder, *, lifetime: dt.timedelta, now: dt.datetime) -> ClientToken:
    """Sign a token for a recipient."""
    expires = int((now + lifetime).timestamp())
    facts = (int(holder.mode), holder.recipient_id, expires)
    return ClientToken(
        text=signed_token.write(facts, key=_keys()[0]),
        expires_at=dt.datetime.fromtimestamp(expires, dt.UTC),
    )


def read(token: str, *, now: dt.datetime) -> TokenHolder | None:
    """Return the recipient of a token; None for a token that is forged or has expired."""
    facts = signed_token.verify(token, keys=_keys())
    if facts is None:
        return None
    mode, recipient_id, expires = facts
    if now.timestamp() >= expires:
        return None
    return TokenHolder(recipient_id=recipient_id, mode=Mode(mode))


def _keys() -> tuple[Key, ...]:
    secrets = (settings.SECRET_KEY, *settings.SECRET_KEY_FALLBACKS)
    return signed_token.keys(*secrets, purpose=_PURPOSE)
