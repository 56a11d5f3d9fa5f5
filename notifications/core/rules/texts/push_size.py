"""A push that is too large loses the end of its body.

After `shorten`, a message fits every push service, unless title, link and image alone do not. A
body is cut between two grapheme clusters (never inside an emoji) and ends in an ellipsis.
"""

from __future__ import annotations

import json
from collections.abc import Collection
from typing import Final

from providers import graphemes
from providers.graphemes import ELLIPSIS

LIMIT_BYTES: Final = 3993
"""Web Push's plaintext, the smallest limit: APNs and FCM take 4096."""
ENVELOPE_BYTES: Final = 447
"""For ids, type and collapse key (64 characters each), and JSON's own characters."""
TEXT_BYTES: Final = LIMIT_BYTES - ENVELOPE_BYTES
"""For title, body, link and image together, as JSON."""
_URL_BYTES: Final = len('"image_url":"",')
"""JSON's own characters of a URL in the payload, at most."""
_LARGEST: Final = 6
"""Bytes of JSON for one character: a control character is written as \\u001f."""


def size(text: str) -> int:
    """Return the bytes of a text in a JSON payload."""
    return len(json.dumps(text, ensure_ascii=False).encode(errors="surrogatepass")) - len('""')


def shorten(title: str, body: str, *, urls: Collection[str] = ()) -> str:
    """Return the part of the body that fits beside the title and the URLs."""
    room = TEXT_BYTES - sum(size(url) + _URL_BYTES for url in urls if url)
    if (len(title) + len(body)) * _LARGEST <= room:
        return body  # as nearly all do, and nothing was counted
    room -= size(title)
    if size(body) <= room:
        return body
    room -= size(ELLIPSIS)
    end = 0
    # Each code point takes a byte at least, so no more of them fit.
    for after in graphemes.ends(body[: max(room, 0) + 1]):
        room -= size(body[end:after])
        if room < 0:
            break
        end = after
    return body[:end].rstrip() + ELLIPSIS
