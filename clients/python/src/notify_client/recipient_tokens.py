"""Recipient tokens, signed by the producer with a token secret and without a call to the service.

    from notify_client import recipient_tokens

    token = recipient_tokens.mint(secret, "u_2003", scopes=["inbox:read", "inbox:write"])

The secret stays in the back end; only the token goes to the person's app or browser. A token is a
JWT (RFC 7519), so any library for JWTs can sign a token, too.
"""

from __future__ import annotations

import base64
import hmac
import json
import re
import secrets as _random
from collections.abc import Sequence
from datetime import datetime, timedelta
from hashlib import sha256
from typing import Final

from notify_client import _timing
from notify_client.types import TokenScope

LONGEST_LIFETIME: Final = timedelta(days=1)
_SHAPE: Final = re.compile("(nts_(live|test)_[a-z0-9]{8})_[0-9a-f]{64}")


def mint(
    secret: str,
    user_id: str,
    *,
    scopes: Sequence[TokenScope],
    lifetime: timedelta = timedelta(hours=1),
    now: datetime | None = None,
) -> str:
    """Sign a token for a recipient. The mode is the mode of the secret.

    Args:
        secret: the token secret, `nts_live_...` or `nts_test_...`.
        user_id: the recipient, who must exist in the service.
        scopes: the rights of the token, such as `inbox:read`.
        lifetime: a minute to a day.
        now: a time with a timezone; None uses this machine's clock.

    Raises:
        ValueError: the secret, the user id, the scopes or the lifetime is not valid; the message
            does not contain the secret.
    """
    shape = _SHAPE.fullmatch(secret)
    if shape is None:
        raise ValueError("a token secret has the form nts_live_... or nts_test_...")
    if not user_id or not scopes:
        raise ValueError("a token needs a user id and a scope")
    if not timedelta(minutes=1) <= lifetime <= LONGEST_LIFETIME:
        raise ValueError("a token lives for a minute to a day")
    issued_at = _timing.wall() if now is None else now.timestamp()
    payload = {
        "aud": "notify",
        "sub": user_id,
        "mode": shape[2],
        "scope": " ".join(scopes),
        "iat": issued_at,
        "exp": int(issued_at + lifetime.total_seconds()),
        "jti": _random.token_urlsafe(12),
    }
    head = _part({"alg": "HS256", "kid": shape[1], "typ": "JWT"})
    signed = f"{head}.{_part(payload)}"
    return f"{signed}.{_text(hmac.digest(secret.encode(), signed.encode(), sha256))}"


def _part(content: object) -> str:
    return _text(json.dumps(content, separators=(",", ":")).encode())


def _text(raw: bytes) -> str:
    return base64.urlsafe_b64encode(raw).rstrip(b"=").decode()
