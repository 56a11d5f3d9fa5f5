"""A push that is too large loses the end of its body.

After `shorten`, title and body fit every push service, unless the title alone does not. A body is
cut between two grapheme clusters (never inside an emoji) and ends in an ellipsis.
"""

from __future__ import annotations

import json
from typing import Final

import regex

LIMIT_BYTES: Final = 3993
"""Web Push's plaintext, the smallest limit: APNs and FCM take 4096."""
ENVELOPE_BYTES: Final = 447
"""For ids, type and collapse key (64 characters each), and JSON's own characters."""
TEXT_BYTES: Final = LIMIT_BYTES - ENVELOPE_BYTES
"""For title and body together, as JSON."""
ELLIPSIS: Final = "…"
_LARGEST: Final = 6
"""Bytes of JSON for one character: a control character is written as \\u001f."""
_CHARACTER: Final = regex.compile(r"\X")


def size(text: str) -> int:
    """Return the bytes of a text in a JSON payload."""
    return len(json.dumps(text, ensure_ascii=False).encode(errors="surrogatepass")) - len('""')


def shorten(title: str, body: str) -> str:
    """Return the part of the body that fits beside the title."""
    if (len(title) + len(body)) * _LARGEST <= TEXT_BYTES:
        return body  # as nearly all do, and nothing was counted
    room = TEXT_BYTES - size(title)
    if size(body) <= room:
        return body
    room -= size(ELLIPSIS)
    end = 0
    for character in _CHARACTER.finditer(body):
        room -= size(character.group())
        if room < 0:
            break
        end = character.end()
    return body[:end].rstrip() + ELLIPSIS
