"""The parts of a text that a translation keeps: variables, statements and comments.

    Hello {{ name }}, {% if due %}it is due{% endif %}.
          ----------  ------------        -----------

A variable with a text in quotes is open to the translator, because the text is shown:
`{{ count|plural(one="# day", other="# days") }}`. A character that XML cannot hold is kept, too.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import Final

from notifications.core.rules.language.syntax import BrokenTemplate
from notifications.core.rules.texts import mail_html

_QUOTE: Final = re.compile("[\"']")
_NOT_OF_XML: Final = re.compile("([^\\t\\n\\x20-\\ud7ff\\ue000-\\ufffd\\U00010000-\\U0010ffff]+)")
"""Characters outside of https://www.w3.org/TR/xml/#NT-Char; a CR, which XML reads as a LF, too."""


@dataclass(frozen=True, slots=True)
class Piece:
    """A part of a text."""

    text: str
    is_kept: bool
    """True for a part that the translation has as it is."""


def pieces(source: str) -> list[Piece]:
    """Return the parts of a source, which together are the source."""
    try:
        found = list(mail_html.statements(source))
    except BrokenTemplate:
        found = []
    if "".join(text for _, text in found) != source:
        found = [("data", source)]
    return [piece for kind, text in found for piece in _split(kind, text)]


def texts_of(source: str) -> list[str]:
    """Return the parts that a translation keeps, in order."""
    return [piece.text for piece in pieces(source) if piece.is_kept]


def has_words(source: str) -> bool:
    """Return True if a source has a letter for a translator."""
    return any(
        character.isalpha()
        for piece in pieces(source)
        if not piece.is_kept
        for character in piece.text
    )


def _split(kind: str, text: str) -> list[Piece]:
    if kind != "data" and not (kind == "variable" and _QUOTE.search(text)):
        return [Piece(text, is_kept=True)]
    parts = _NOT_OF_XML.split(text)
    return [Piece(part, is_kept=bool(place % 2)) for place, part in enumerate(parts) if part]
