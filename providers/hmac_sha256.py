"""HMAC-SHA256 of short texts, without a release of the interpreter's lock.

`hmac.digest` releases the lock for each text, however short. Beside busy threads the release costs
two switches of the thread, which take longer than the hash. A copy of a keyed object does not
release the lock for a text below 2 KiB.
Source: https://github.com/python/cpython/blob/v3.11.14/Modules/_hashopenssl.c
"""

from __future__ import annotations

import functools
import hmac
from typing import Final

_KEYS: Final = 1_024
"""Keys of this process, each of a producer, an account or a kind of link."""


def hmac_sha256(key: bytes, text: bytes) -> bytes:
    """Return the 32 bytes of HMAC-SHA256; the process keeps the last keys."""
    mac = _mac_of(key).copy()
    mac.update(text)
    return mac.digest()


@functools.lru_cache(maxsize=_KEYS)
def _mac_of(key: bytes) -> hmac.HMAC:
    return hmac.new(key, digestmod="sha256")
