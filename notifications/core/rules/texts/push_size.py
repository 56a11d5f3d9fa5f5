"""The part of a push text that fits every push service."""

from __future__ import annotations

import json
from collections.abc import Collection
from typing import Final

from providers import graphemes
from providers.graphemes import ELLIPSIS

PUSH_LIMIT_BYTES: Final = 3993
"""Web Push's plaintext, the smallest limit: APNs and FCM take 4096."""
PUSH_ENVELOPE_BYTES: Final = 447
"""For ids, type and collapse key (64 characters each), and JSON's own characters."""
PUSH_TEXT_BYTES: Final = PUSH_LIMIT_BYTES - PUSH_ENVELOPE_BYTES
"""For title, body, link and image together, as JSON."""
_URL_BYTES: Final = len('"image_url":"",')
"""JSON's own characters of a URL in the payload, at most."""
_LARGEST: Final = 6
"""Bytes of JSON for one character: a control character is written as \\u001f."""


def json_bytes(text: str) -> int:
    """Return the bytes of a text in a JSON payload."""
    return len(json.dumps(text, ensure_ascii=False).encode(errors="surrogatepass")) - len('""')


def shorten_push(title: str, body: str, *, urls: Collection[str] = ()) -> str:
    """Return the part of the body that fits beside the title and the URLs.

    The message then fits every push service, unless title, link and image alone do not. A body is
    cut between two grapheme clusters (never inside an emoji) and ends in an ellipsis.
    """
    room = PUSH_TEXT_BYTES - sum(json_bytes(url) + _URL_BYTES for url in urls if url)
    if (len(title) + len(body)) * _LARGEST <= room:
        return body  # as nearly all do, and nothing was counted
    room -= json_bytes(title)
    if json_bytes(body) <= room:
        return body
    room -= json_bytes(ELLIPSIS)
    end = 0
    # Each code point takes a byte at least, so no more of them fit.
    for after in graphemes.ends(body[: max(room, 0) + 1]):
        room -= json_bytes(body[end:after])
        if room < 0:
            break
        end = after
    return body[:end].rstrip() + ELLIPSIS
