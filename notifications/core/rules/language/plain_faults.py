"""Jinja's messages about a broken source, in words for the authors of templates."""

from __future__ import annotations

import re
from typing import Final

_TOKENS: Final = {
    "'end of print statement'": "}}",
    "'end of statement block'": "%}",
    "'name'": "a name",
}
_MEANINGS: Final[tuple[tuple[re.Pattern[str], str], ...]] = tuple(
    (re.compile(pattern), meaning)
    for pattern, meaning in (
        (
            r"unexpected end of template, expected 'end of print statement'",
            "{{ has no closing }}",
        ),
        (
            r"unexpected end of template, expected 'end of statement block'",
            "{% has no closing %}",
        ),
        (
            r"Unexpected end of template.*innermost block that needs to be closed is '(\w+)'",
            r"{% \1 %} has no closing {% end\1 %}",
        ),
        (r"Missing end of comment tag", "{# has no closing #}"),
        (
            r"Expected an expression, got 'end of print statement'",
            "{{ }} is empty: write the name of a variable between the brackets",
        ),
        (
            r"Expected an expression, got 'end of statement block'",
            "the condition or the list is missing before %}",
        ),
        (
            r"Encountered unknown tag '(end\w+|else|elif)'",
            r"{% \1 %} has no beginning, such as {% if name %}",
        ),
        (r"Encountered unknown tag '(\w+)'", r"{% \1 %} is no tag: use if, for or else"),
        (
            r"expected token 'end of print statement', got '(.+)'",
            r"}} is missing before \1; a name has letters, digits and underscores, and no spaces",
        ),
        (
            r"unexpected char ([\"'])(.+?)\1",
            r"\2 cannot stand between the brackets; a text there needs two quotation marks",
        ),
        (r"unexpected '}'", "{{ is closed by one }: write }}"),
        (r"unexpected '(.+?)'", r"\1 stands in the wrong place"),
        (r"expected name or number", "a name is missing after the point"),
    )
)


def plain(message: str) -> str:
    """Return a message of Jinja in plain words, without a full stop."""
    for pattern, meaning in _MEANINGS:
        if found := pattern.search(message):
            return found.expand(meaning.replace("\\", "\\")) if "\\" in meaning else meaning
    for token, sign in _TOKENS.items():
        message = message.replace(token, sign)
    return message.rstrip(".")
