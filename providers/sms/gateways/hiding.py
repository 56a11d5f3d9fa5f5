"""Hides the number, the text and the secrets of a request in the answer that repeats them."""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Final
from urllib.parse import quote, quote_plus

_SHORTEST: Final = 4
"""Characters; a shorter text is a part of other words."""


def hide(answer: str, marks: Mapping[str, str]) -> str:
    """Replace texts in each spelling of JSON and of URLs.

    Args:
        answer: a part of an answer.
        marks: text of the request -> the mark in its place.
    """
    for text, mark in marks.items():
        if len(text) >= _SHORTEST:
            for spelling in _spellings(text):
                answer = answer.replace(spelling, mark)
    return answer


def _spellings(text: str) -> list[str]:
    whole = text.encode(errors="replace").decode()
    wide, ascii_ = (json.dumps(whole, ensure_ascii=each)[1:-1] for each in (False, True))
    found = {text, wide, ascii_, quote(whole, safe=""), quote_plus(whole)}
    found |= {each.replace("/", "\\/") for each in (wide, ascii_)}
    return sorted(found, key=len, reverse=True)
