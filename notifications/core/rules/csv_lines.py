"""Lines of CSV files (RFC 4180) that a spreadsheet does not execute.

A spreadsheet reads a cell that begins with `=`, `+`, `-` or `@`, also in full width, as a formula,
which can send the sheet to another server. Such a text gets an apostrophe at its start. Where `;`
or a tab separates cells, a formula can also begin within a text: `safe_line` puts an apostrophe
there too.
"""

from __future__ import annotations

import csv
import io
import re
from collections.abc import Iterable
from typing import Final

_FORMULA: Final = (*"=+-@\uff1d\uff0b\uff0d\uff20", "\t", "\r", "\n")
"""Characters that start a formula in a spreadsheet."""
_APOSTROPHE: Final = "'"
_INNER: Final = re.compile("([;\t][\"' ]*)(?=[=+\\-@\uff1d\uff0b\uff0d\uff20])")
_ESCAPED_INNER: Final = re.compile("([;\t][\"' ]*)'(?=[=+\\-@\uff1d\uff0b\uff0d\uff20])")


def escape(text: str) -> str:
    """Return a text that is no formula in a spreadsheet."""
    return _APOSTROPHE + text if text.lstrip(" ").startswith(_FORMULA) else text


def unescape(text: str) -> str:
    """Return the text before `escape`."""
    bare = text.removeprefix(_APOSTROPHE)
    return bare if bare.lstrip(" ").startswith(_FORMULA) else text


def restorable_line(texts: Iterable[str]) -> str:
    """Return a line that is as safe as `safe_line`, and of which `restore` gives back each text.

    A text that begins with an apostrophe gets one more.
    """
    return safe_line(_APOSTROPHE + text if text.startswith(_APOSTROPHE) else text for text in texts)


def restore(cell: str) -> str:
    """Return the text of a cell of `restorable_line`; a text without escapes stays."""
    bare = cell.removeprefix(_APOSTROPHE)
    is_escaped = bare.startswith(_APOSTROPHE) or bare.lstrip(" ").startswith(_FORMULA)
    return _ESCAPED_INNER.sub(r"\1", bare if is_escaped else cell)


def line(values: Iterable[str]) -> str:
    """Return a line of cells as they are."""
    text = io.StringIO()
    csv.writer(text).writerow(values)
    return text.getvalue()


def safe_line(values: Iterable[object]) -> str:
    """Return a line; texts are escaped, numbers stay numbers, None is empty."""
    return line(_cell(value) for value in values)


def _cell(value: object) -> str:
    if value is None:
        return ""
    if isinstance(value, bool):
        return "yes" if value else "no"
    if isinstance(value, int | float):
        return str(value)
    return escape(_INNER.sub(rf"\1{_APOSTROPHE}", str(value)))
