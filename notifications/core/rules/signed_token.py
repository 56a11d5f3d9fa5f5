"""A signed token: a few facts in a link, signed with a key of this installation.

    base64url(JSON) "." base64url(HMAC-SHA256)

`verify` returns the facts that `write` signed with a known key, and None for any other text. The
facts are not secret, and the token has no date. Django's `Signer` derives a key per token; every
mail has a token, so keys are derived once here.
"""

from __future__ import annotations

import base64
import functools
import hmac
from binascii import b2a_base64
from collections.abc import Sequence
from typing import Any, Final

import orjson

from providers.hmac_sha256 import hmac_sha256

Key = bytes
_OF_URLS: Final = bytes.maketrans(b"+/", b"-_")


def key(secret: str, *, purpose: str) -> Key:
    """Derive the key for one purpose."""
    return hmac_sha256(secret.encode(), purpose.encode())


@functools.lru_cache(maxsize=8)
def keys(*secrets: str, purpose: str) -> tuple[Key, ...]:
    """Derive the keys for one purpose, the signing key first."""
    return tuple(key(each, purpose=purpose) for each in secrets)


def write(facts: Sequence[str | int], *, key: Key) -> str:
    """Sign facts, in characters that a URL may hold."""
    said = _text(orjson.dumps(facts))
    return f"{said}.{_text(hmac_sha256(key, said.encode()))}"


def verify(token: str, *, keys: Sequence[Key]) -> list[Any] | None:
    """Return the facts of a token signed with any of the keys, else None."""
    said, _, signature = token.partition(".")
    if not token.isascii():
        return None
    signatures = [_text(hmac_sha256(each, said.encode())) for each in keys]
    if not any(hmac.compare_digest(each, signature) for each in signatures):
        return None
    facts: list[Any] = orjson.loads(base64.urlsafe_b64decode(said + "=" * (-len(said) % 4)))
    return facts


def _text(raw: bytes) -> str:
    # `base64.urlsafe_b64encode` does the same by three functions of Python.
    return b2a_base64(raw, newline=False).translate(_OF_URLS).rstrip(b"=").decode()
