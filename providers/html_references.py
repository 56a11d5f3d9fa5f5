"""Character references in HTML of other people, such as `&amp;` and `&#8364;`."""

from __future__ import annotations

import html
import re
from typing import Final

_LONG: Final = re.compile(r"&#[0-9]{100,};?")
"""Of no character: Unicode ends at seven digits. `int` raises ValueError above 4,300 digits."""
_REPLACEMENT: Final = "\ufffd"


def shorten(text: str) -> str:
    """Return the text without references that `html.unescape` and `HTMLParser` raise for."""
    return _LONG.sub(_REPLACEMENT, text)


def unescape(text: str) -> str:
    """Return the text with the characters of its references, as `html.unescape`, for any text."""
    return html.unescape(shorten(text))
