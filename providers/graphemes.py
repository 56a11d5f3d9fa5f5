"""Grapheme clusters: the characters that a reader sees, and the only places where a text is cut.

A cluster can have many code points: a family emoji, a flag, a letter with combining accents, an
Indic syllable (https://unicode.org/reports/tr29). All lengths and positions are code points of a
`str`, because the limits of columns and vendors count code points, UTF-16 units or bytes.

`regex` counts the regional indicators before each flag again, so a text of flags alone takes
quadratic time: 20,000 took a second. `ends` therefore reads pieces of `_PIECE` code points, each
from the end of a cluster on.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final

import regex

ELLIPSIS: Final = "…"
_CLUSTER: Final = regex.compile(r"\X")
_PIECE: Final = 64


def ends(text: str) -> Iterator[int]:
    """Yield the position after each cluster of a text, in linear time."""
    begin, size = 0, _PIECE
    while begin < len(text):
        piece = text[begin : begin + size]
        found = [begin + cluster.end() for cluster in _clusters(piece)]
        if begin + len(piece) < len(text) and found[-1] == begin + len(piece):
            found.pop()  # the cluster may go on after the piece
        if found:
            yield from found
            begin, size = found[-1], _PIECE
        else:
            size *= 2


def last_end(text: str, limit: int) -> int:
    """Return the last end of a cluster up to a position; 0 if the first cluster ends later.

    Reads one code point after the position at most.
    """
    if limit <= 0 or limit >= len(text):
        return max(0, min(limit, len(text)))
    if text.isascii() and text[limit - 1] != "\r":
        return limit
    found = 0
    for end in ends(text[: limit + 1]):
        if end > limit:
            break
        found = end
    return found


def next_end(text: str, position: int) -> int:
    """Return the first end of a cluster from a position on; a later one than the text: its end."""
    if position <= 0 or position >= len(text):
        return max(0, min(position, len(text)))
    if text.isascii() and text[position - 1] != "\r":
        return position
    return next(end for end in ends(text) if end >= position)


def cut(text: str, limit: int) -> str:
    """Return a text of at most `limit` code points, with an ellipsis if the text was longer."""
    if len(text) <= limit:
        return text
    return text[: last_end(text, limit - len(ELLIPSIS))].rstrip() + ELLIPSIS


def _clusters(piece: str) -> Iterator[regex.Match[str]]:
    """Yield the clusters of a piece; of a longer piece the first cluster alone."""
    if len(piece) <= _PIECE:
        return iter(_CLUSTER.finditer(piece))
    first = _CLUSTER.match(piece)
    return iter(()) if first is None else iter((first,))
