"""A push that is too large loses the end of its body, and nothing else.

Promise: after `shortened`, title and body fit what every push service takes, unless the title alone
does not: a title is the sender's and stays whole. A body is cut between two characters as people
count them (never inside an emoji or an accent) and ends in an ellipsis.
"""

from __future__ import annotations

import json
from typing import Final

import regex

LIMIT_BYTES: Final = 3993
"""Web Push's plaintext, the smallest: APNs and FCM take 4096."""
ENVELOPE_BYTES: Final = 393
"""Kept for what an adapter adds: ids, type and collapse key (64 characters each), JSON's own."""
TEXT_BYTES: Final = LIMIT_BYTES - ENVELOPE_BYTES
"""For title and body together, as JSON writes them."""
ELLIPSIS: Final = "…"
_LARGEST: Final = 6
"""Bytes that JSON may take for one character: a control character is written as \\u001f."""
_CHARACTER: Final = regex.compile(r"\X")


def size(text: str) -> int:
    """Bytes that a text takes in a JSON payload."""
    return len(json.dumps(text, ensure_ascii=False).encode(errors="surrogatepass")) - len('""')


def shortened(title: str, body: str) -> str:
    """The body as far as it fits beside its title; the same when all of it does."""
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
