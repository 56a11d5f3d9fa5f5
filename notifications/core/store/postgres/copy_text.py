r"""Rows in COPY's text format: tab between values, line feed after each row, `\N` for NULL.

psycopg can write any type. A batch of a thousand notifications has forty thousand values of seven
types, nearly all without a character to escape: such rows are joined as they are.
"""

from __future__ import annotations

import datetime as dt
import functools
from collections.abc import Callable, Iterable, Sequence
from enum import IntEnum, StrEnum
from typing import Any, Final
from uuid import UUID

_NULL: Final = "\0N"
_BYTES: Final = "\0x"
"""Stand-ins until the rows are joined, so that a backslash in a row comes from its text. No text
holds NUL: Postgres stores none, and `rules.request` refuses it."""
_ESCAPES: Final = str.maketrans({"\\": r"\\", "\t": r"\t", "\n": r"\n", "\r": r"\r"})
"""Characters that would end a value or a row, or begin an escape."""


class _Formats(dict[type, Callable[[Any], str]]):
    """By exact type; the class of an enum is added on its first use."""

    def __missing__(self, kind: type) -> Callable[[Any], str]:
        if issubclass(kind, IntEnum):
            self[kind] = int.__repr__
        elif issubclass(kind, StrEnum):
            self[kind] = str.__str__
        else:
            raise TypeError(f"no COPY format for {kind.__name__}")
        return self[kind]


_FORMATS: Final = _Formats({
    int: int.__repr__,
    bool: {False: "f", True: "t"}.__getitem__,
    type(None): lambda _value: _NULL,
    UUID: lambda value: value.hex,
    bytes: lambda value: _BYTES + value.hex(),
    list: lambda value: "{" + ",".join(map(int.__repr__, value)) + "}",
    dt.datetime: functools.lru_cache(maxsize=1024)(dt.datetime.isoformat),  # a batch has few
})


def encode(records: Iterable[Sequence[object]]) -> bytes:
    """Encode rows.

    Raises:
        TypeError: no column here has a value of this type; lists hold integers.
    """
    text = "".join([_line(record) for record in records])
    return text.replace(_NULL, r"\N").replace(_BYTES, r"\\x").encode()


VARIES: Final = object()
"""Stands for a value that differs between the rows of a pattern."""


def pattern(record: Sequence[object]) -> str:
    """Return the line of a row as a %-format, with `%s` in place of each VARIES.

    A page of a bulk job has thousands of rows that differ in a few values; the others are encoded
    once. The values are given by `text` and `stamp`, ids as `UUID.hex`, NULL as NULL.

    Raises:
        TypeError: as `encode`.
    """
    shared = [value for value in record if value is not VARIES]
    encoded = iter(encode([shared]).decode()[:-1].replace("%", "%%").split("\t") if shared else ())
    return "\t".join(["%s" if value is VARIES else next(encoded) for value in record]) + "\n"


NULL: Final = r"\N"


def text(value: str) -> str:
    """Encode a text for a pattern."""
    return value if value.isalnum() else value.translate(_ESCAPES)


def hexadecimal(value: bytes) -> str:
    """Encode bytes for a pattern."""
    return r"\\x" + value.hex()


def stamp(value: dt.datetime) -> str:
    """Encode a time for a pattern; equal times of a page are encoded once."""
    return _FORMATS[dt.datetime](value)


def _line(record: Sequence[object]) -> str:
    formats = _FORMATS
    values = [value if type(value) is str else formats[type(value)](value) for value in record]
    line = "\t".join(values) + "\n"
    is_plain = (
        "\\" not in line
        and "\r" not in line
        and line.count("\n") == 1
        and line.count("\t") == len(values) - 1
    )
    if is_plain:
        return line
    return "\t".join([value.translate(_ESCAPES) for value in values]) + "\n"
