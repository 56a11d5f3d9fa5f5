"""Client tokens of releases before recipient tokens: still valid for their lifetime of a day.

    POST /v1/receipts/client ── read(token) ──> TokenHolder

A token names the recipient, the mode and the end of its validity, and permits client receipts only.
The service signs no such token any more (see `store.recipient_tokens`).
"""

from __future__ import annotations

import datetime as dt
from typing import Final

from django.conf import settings

from notifications.core.rules import signed_token
from notifications.core.rules.client_receipts import TokenHolder
from notifications.core.rules.lane import Mode
from notifications.core.rules.signed_token import Key

PURPOSE: Final = "notifications.client_receipts"


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
    return signed_token.keys(*secrets, purpose=PURPOSE)
