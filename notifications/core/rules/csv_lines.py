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
    """Return a text that is no formula in a spreadsheet.

    A formula behind apostrophes gets one more, so that `unescape` gives back each text.
    """
    return _APOSTROPHE + text if _is_formula(text) else text


def unescape(text: str) -> str:
    """Return the text before `escape`; a text without an escape stays."""
    is_escaped = text.startswith(_APOSTROPHE) and _is_formula(text)
    return text.removeprefix(_APOSTROPHE) if is_escaped else text


def restore(cell: str) -> str:
    """Return the text of a cell of `safe_line`; a text without escapes stays."""
    return _ESCAPED_INNER.sub(r"\1", unescape(cell))


def _is_formula(text: str) -> bool:
    """Return True for a formula, also behind apostrophes."""
    return text.lstrip(_APOSTROPHE).lstrip(" ").startswith(_FORMULA)


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
