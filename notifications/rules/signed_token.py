"""A signed token: a few facts in a link, which nobody but us can have written.

    base64url(JSON) "." base64url(HMAC-SHA256)

Promise: `read` gives back what `write` was given under one of these keys, and nothing for any other
text. The facts are not secret. There is no date in it: a caller that wants an end puts one in.

Django's `Signer` does the same and makes its key again for each token; each mail has one, so here
the keys are made once.
"""

from __future__ import annotations

import base64
import hashlib
import hmac
from collections.abc import Sequence
from typing import Any

import orjson

Key = hmac.HMAC
"""A key that is ready for use; never updated itself, only its copies."""


def key(secret: str, *, purpose: str) -> Key:
    """Derive the key for one purpose: what is signed for another is never believed for this."""
    derived = hmac.digest(secret.encode(), purpose.encode(), hashlib.sha256)
    return hmac.new(derived, digestmod=hashlib.sha256)


def write(facts: Sequence[str | int], *, key: Key) -> str:
    """Sign facts, in characters that a URL may hold."""
    said = _text(orjson.dumps(facts))
    return f"{said}.{_signature(said, key)}"


def read(token: str, *, keys: Sequence[Key]) -> list[Any] | None:
    """The facts of a token that was written with any of these keys; None for every other text."""
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
