r"""Rows in COPY's text format: tab between values, line feed after each row, `\N` for NULL.

psycopg can write any type. A batch of a thousand notifications has forty thousand values of seven
types. Rows are therefore encoded by column: a column with one value in all rows is encoded once,
and a column of texts is searched once for characters to escape.
"""

from __future__ import annotations

import datetime as dt
import functools
from collections.abc import Callable, Sequence
from enum import IntEnum, StrEnum
from typing import Any, Final
from uuid import UUID

from notifications.core.store.postgres.arrays import SmallIntegers

NULL: Final = r"\N"
_ESCAPES: Final = str.maketrans({"\\": r"\\", "\t": r"\t", "\n": r"\n", "\r": r"\r"})
"""Characters that would end a value or a row, or begin an escape."""
_ESCAPED: Final = tuple(map(chr, _ESCAPES))


def text(value: str) -> str:
    """Encode a text without NUL, which Postgres cannot store and `rules.request` refuses."""
    return value if value.isalnum() else value.translate(_ESCAPES)


def hexadecimal(value: bytes) -> str:
    """Encode bytes."""
    return r"\\x" + value.hex()


def _integers(value: list[int]) -> str:
    return "{" + ",".join(map(int.__repr__, value)) + "}"


class _Formats(dict[type, Callable[[Any], str]]):
    """By exact type; the class of an enum is added on its first use."""

    def __missing__(self, kind: type) -> Callable[[Any], str]:
        if issubclass(kind, IntEnum):
            self[kind] = int.__repr__
        elif issubclass(kind, StrEnum):
            self[kind] = text
        else:
            raise TypeError(f"no COPY format for {kind.__name__}")
        return self[kind]


_FORMATS: Final = _Formats({
    str: text,
    int: int.__repr__,
    bool: {False: "f", True: "t"}.__getitem__,
    type(None): lambda _value: NULL,
    UUID: lambda value: value.hex,
    bytes: hexadecimal,
    list: _integers,
    SmallIntegers: _integers,
    dt.datetime: functools.lru_cache(maxsize=1024)(dt.datetime.isoformat),  # a batch has few
})


def stamp(value: dt.datetime) -> str:
    """Encode a time; equal times of a page are encoded once."""
    return _FORMATS[dt.datetime](value)


def encode(records: Sequence[Sequence[object]]) -> bytes:
    """Encode rows of the same length.

    Raises:
        TypeError: no column here has a value of this type; lists hold integers.
    """
    columns = list(zip(*records, strict=True))
    varies = [not _is_shared(column) for column in columns]
    pairs = list(zip(columns, varies, strict=True))
    line = pattern([VARIES if differs else column[0] for column, differs in pairs])
    if not any(varies):
        return (line % () * len(records)).encode()
    values = [_column(column) for column, differs in pairs if differs]
    return "".join(map(line.__mod__, zip(*values, strict=True))).encode()


def _is_shared(column: Sequence[object]) -> bool:
    """Return True if the values of a column are equal and of one type; True equals 1."""
    first = column[0]
    # Most columns of ids differ in the last row already.
    return (
        first == column[-1]
        and column.count(first) == len(column)
        and len(set(map(type, column))) == 1
    )


def _column(column: Sequence[Any]) -> Sequence[str]:
    """Encode the values of a column; a column of one frequent type takes no call for each value."""
    kinds = set(map(type, column))
    if kinds == {str}:
        together = "".join(column)
        return list(map(text, column)) if any(map(together.__contains__, _ESCAPED)) else column
    if kinds == {UUID}:
        return [f"{value.int:032x}" for value in column]
    if kinds == {bytes}:
        return [rf"\\x{value.hex()}" for value in column]
    if kinds == {dt.datetime}:
        return list(map(dt.datetime.isoformat, column))
    return [_FORMATS[type(value)](value) for value in column]


VARIES: Final = object()
"""Stands for a value that differs between the rows of a pattern."""


def pattern(record: Sequence[object]) -> str:
    """Return the line of a row as a %-format, with `%s` in place of each VARIES.

    A page of a bulk job has thousands of rows that differ in a few values; the others are encoded
    once. The values are given by `text`, `hexadecimal` and `stamp`, ids as `UUID.hex`, NULL as
    NULL.

    Raises:
        TypeError: as `encode`.
    """
    values = [
        "%s" if value is VARIES else _FORMATS[type(value)](value).replace("%", "%%")
        for value in record
    ]
    return "\t".join(values) + "\n"
