"""A source without a counterpart in the language of templates."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable
from typing import Final

_FOREIGN: Final = re.compile(r"\{[{%#]|[}%#]\}")
_NAME: Final = r"[A-Za-z][A-Za-z0-9_]*"
_PATH: Final = re.compile(rf"{_NAME}(?:\.{_NAME})*")
_RESERVED: Final = frozenset({
    *("and", "else", "elif", "endfor", "endif", "false", "for", "if", "in", "is", "loop", "none"),
    *("not", "or", "true"),
})
"""Words of Jinja that are no names of variables."""


class NotConvertible(ValueError):
    """A part of a source cannot be converted exactly; write the part by hand."""

    def __init__(self, source: str, at: int, why: str) -> None:
        """Name the line of the part."""
        super().__init__(f"line {source.count(chr(10), 0, at) + 1}: {why}")


def rewrite(source: str, tags: re.Pattern[str], tag: Callable[[re.Match[str]], str]) -> str:
    """Return the source with each tag rewritten, and the text between the tags as it is.

    Raises:
        NotConvertible: a text has a mark of Jinja, or `tag` refuses a tag.
    """
    pieces: list[str] = []
    end = 0
    for found in tags.finditer(source):
        pieces += literal(source[end : found.start()], source, end), tag(found)
        end = found.end()
    pieces.append(literal(source[end:], source, end))
    return "".join(pieces)


def literal(text: str, source: str, at: int) -> str:
    """Return a text with the same meaning in both languages.

    Raises:
        NotConvertible: the text has a mark of Jinja.
    """
    if found := _FOREIGN.search(text):
        raise NotConvertible(source, at + found.start(), f"{found[0]} begins or ends a tag here")
    return text


def path(text: str) -> str | None:
    """Return a variable with keys, `order.total`; None for any other expression."""
    if _PATH.fullmatch(text) and _RESERVED.isdisjoint(text.split(".")):
        return text
    return None


def is_defined(variable: str, *, known: Iterable[str] = ()) -> str:
    """Return the condition that a variable and each object above it exist.

    `order.total` gives `order is defined and order.total is defined`. A name in `known`, such as
    the item of a loop, always exists.
    """
    names = variable.split(".")
    parts = [".".join(names[: count + 1]) for count in range(len(names))]
    return " and ".join(f"{part} is defined" for part in parts if part not in known)
