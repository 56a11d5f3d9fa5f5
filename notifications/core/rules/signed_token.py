"""A signed token: a few facts in a link, signed with a key of this installation.

    base64url(JSON) "." base64url(HMAC-SHA256)

`verify` returns the facts that `write` signed with a known key, and None for any other text. The
facts are not secret, and the token has no date. Django's `Signer` derives a key per token; every
mail has a token, so keys are derived once here.
"""

from __future__ import annotations

import base64
import functools
import hashlib
import hmac
from collections.abc import Sequence
from typing import Any

import orjson

Key = hmac.HMAC
"""A prepared key; only its copies are updated."""


def key(secret: str, *, purpose: str) -> Key:
    """Derive the key for one purpose."""
    derived = hmac.digest(secret.encode(), purpose.encode(), hashlib.sha256)
    return hmac.new(derived, digestmod=hashlib.sha256)


@functools.lru_cache(maxsize=8)
def keys(*secrets: str, purpose: str) -> tuple[Key, ...]:
    """Derive the keys for one purpose, the signing key first."""
    return tuple(key(each, purpose=purpose) for each in secrets)


def write(facts: Sequence[str | int], *, key: Key) -> str:
    """Sign facts, in characters that a URL may hold."""
    said = _text(orjson.dumps(facts))
    return f"{said}.{_signature(said, key)}"


def verify(token: str, *, keys: Sequence[Key]) -> list[Any] | None:
    """Return the facts of a token signed with any of the keys, else None."""
    said, _, signature = token.partition(".")
    if not token.isascii():
        return None
    if not any(hmac.compare_digest(_signature(said, each), signature) for each in keys):
        return None
    facts: list[Any] = orjson.loads(base64.urlsafe_b64decode(said + "=" * (-len(said) % 4)))
    return facts


def _signature(said: str, key: Key) -> str:
    running = key.copy()
    running.update(said.encode())
    return _text(running.digest())


def _text(raw: bytes) -> str:
    return base64.urlsafe_b64encode(raw).rstrip(b"=").decode()
