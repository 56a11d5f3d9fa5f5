"""Values in an answer or a callback, by paths: `messages.0.status`.

A path has keys of objects and positions of lists, with dots between them. `.` is the whole answer.
"""

from __future__ import annotations

import json
import re
from typing import Final
from urllib.parse import parse_qsl

import orjson

WHOLE: Final = "."
_LONG_NUMBER: Final = re.compile(rb"\d{20}")
"""An id of as many digits is rounded by `orjson`, and two messages would share it."""


def read(body: bytes) -> object:
    """Read JSON, else a form, else a text."""
    exact = json.loads if _LONG_NUMBER.search(body) else orjson.loads
    try:
        return exact(body)
    except (ValueError, RecursionError):
        text = body.decode(errors="replace").strip()
        return dict(parse_qsl(text, keep_blank_values=True)) if "=" in text else text


def value_at(tree: object, path: str) -> object:
    """Return the value at a path; None if the path is empty or leads to no value."""
    if not path:
        return None
    if path == WHOLE:
        return tree
    for step in path.split("."):
        if isinstance(tree, dict):
            tree = tree.get(step)
        elif isinstance(tree, list) and step.isdecimal() and int(step) < len(tree):
            tree = tree[int(step)]
        else:
            return None
    return tree


def text_at(tree: object, path: str) -> str:
    """Return a text, a number or a truth value at a path as text, without NUL; empty: none."""
    found = value_at(tree, path)
    if isinstance(found, bool):
        return "true" if found else "false"
    return str(found).replace("\0", "").strip() if isinstance(found, str | int | float) else ""


def first_text(tree: object, paths: tuple[str, ...]) -> str:
    """Return the text at the first path that leads to one; empty: no path does."""
    return next(filter(None, (text_at(tree, path) for path in paths)), "")
