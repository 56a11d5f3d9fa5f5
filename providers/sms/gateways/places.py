"""Places in the request of a description: `{to}` stands for the number of the recipient.

A text that is one place becomes the value itself, so a number stays a number in JSON. A place of a
setting without a value leaves out its field.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from typing import Final

_PLACE: Final = re.compile(r"\{([^{}]*)\}")

OF_MESSAGES: Final = frozenset({
    "to",  # the number in E.164: +491511234567
    "to_digits",  # the number without the plus
    "text",
    "delivery_id",  # the same at each try: the gateway repeats it in receipts
    "idempotency_key",  # the same at each try, new after a replay
    "callback_url",  # address for receipts
    "ttl_seconds",  # time left to the message
    "ttl_minutes",
    "encoding",  # the value of `request.encoding` for the text
})
"""Names that are no settings."""

Scalar = str | int | float | bool
Tree = Mapping[str, object] | list[object] | Scalar
"""A body in a description: what TOML can write, without times."""


def names(tree: object) -> Iterator[str]:
    """Yield the names of the places of a tree."""
    if isinstance(tree, str):
        yield from _PLACE.findall(tree)
    elif isinstance(tree, Mapping):
        for each in tree.values():
            yield from names(each)
    elif isinstance(tree, list | tuple):
        for each in tree:
            yield from names(each)


def fill(tree: object, values: Mapping[str, Scalar | None]) -> object:
    """Return a tree with values in its places; None: a text is the place of no value."""
    if isinstance(tree, str):
        whole = _PLACE.fullmatch(tree)
        if whole:
            return values[whole[1]]
        return _PLACE.sub(lambda place: _text(values[place[1]]), tree)
    if isinstance(tree, Mapping):
        filled = ((key, fill(each, values)) for key, each in tree.items())
        return {key: each for key, each in filled if each is not None}
    if isinstance(tree, list | tuple):
        return [each for each in (fill(one, values) for one in tree) if each is not None]
    return tree


def fill_text(text: str, values: Mapping[str, Scalar | None]) -> str:
    """Return a text with values in its places; a place of no value becomes empty."""
    return _PLACE.sub(lambda place: _text(values[place[1]]), text)


def _text(value: Scalar | None) -> str:
    if isinstance(value, bool):
        return "true" if value else "false"
    return "" if value is None else str(value)
