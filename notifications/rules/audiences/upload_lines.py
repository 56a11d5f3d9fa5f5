"""Lines of an upload, from a stream of bytes: CSV or NDJSON, with bounded memory.

    user_id,code,name          {"user_id": "u_1", "code": "X7"}
    u_1,X7,"Maria,
    of Berlin"

The first line of CSV names the columns. Other columns than `user_id` are variables of the
recipient. A byte order mark, CRLF and empty lines are accepted. A wrong line is a fault with its
number; a wrong head, or a line that is too long, ends the upload.
"""

from __future__ import annotations

import csv
import re
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from enum import StrEnum
from typing import Any, Final, Protocol

import orjson
from pydantic import TypeAdapter, ValidationError

from notifications.rules.request import UserId

MAX_LINE: Final = 256 * 1024
"""Bytes of a line, quoted line feeds included."""
MAX_COLUMNS: Final = 64
MAX_VARIABLES: Final = 16 * 1024
"""Bytes of the variables of a recipient as JSON."""
_CHUNK: Final = 64 * 1024
_NAME: Final = re.compile(r"[A-Za-z_][A-Za-z0-9_]{0,63}", re.ASCII)
_USER_ID: Final = TypeAdapter(UserId)
_BOM: Final = b"\xef\xbb\xbf"
_IS_TOO_LONG: Final = "field larger than field limit"
"""Message of the csv module for a cell of over 128 KiB."""
_NUL: Final = b"\\u0000"


class UploadFormat(StrEnum):
    """The format of an uploaded file."""

    CSV = "csv"
    NDJSON = "ndjson"


class FaultKind(StrEnum):
    """The reason for which a line has no recipient."""

    FORMAT = "format"
    """No CSV, no JSON object, or not UTF-8."""
    USER_ID = "user_id"
    """No valid user id."""
    VARIABLES = "variables"
    """Too many cells, too large, or a wrong name."""
    UNKNOWN = "unknown"
    """No recipient of the mode has the user id."""


class InvalidUpload(ValueError):
    """The file has no usable head, or a line is too long: nothing of the file is kept."""


class ByteStream(Protocol):
    """A source of bytes."""

    def read(self, size: int, /) -> bytes:
        """Return up to so many bytes; none at the end."""


@dataclass(frozen=True, slots=True)
class UploadLine:
    """A line with a recipient."""

    number: int
    user_id: str
    variables: str
    """JSON object; empty without variables."""


@dataclass(frozen=True, slots=True)
class LineFault:
    """A line without a recipient."""

    number: int
    kind: FaultKind
    detail: str


def read_lines(stream: ByteStream, form: UploadFormat) -> Iterator[UploadLine | LineFault]:
    """Yield the lines of a file, in order.

    Raises:
        InvalidUpload: the head is wrong, or a line is too long.
    """
    lines = _Lines(stream)
    return _read_csv(lines) if form is UploadFormat.CSV else _read_json(lines)


class _Lines:
    """The lines of a stream as text; bytes that are not UTF-8 become surrogates."""

    def __init__(self, stream: ByteStream) -> None:
        self._stream = stream
        self.number = 0
        self._size = 0

    def begin_record(self) -> None:
        """Count the size of the next record from here."""
        self._size = 0

    def __iter__(self) -> Iterator[str]:
        rest = b""
        while chunk := self._stream.read(_CHUNK):
            *whole, rest = (rest + chunk).split(b"\n")
            for line in whole:
                yield self._text(line + b"\n")
            if len(rest) > MAX_LINE:
                self._refuse(self.number + 1)
        if rest:
            yield self._text(rest)

    def _text(self, line: bytes) -> str:
        self.number += 1
        self._size += len(line)
        if self._size > MAX_LINE:
            self._refuse(self.number)
        if self.number == 1:
            line = line.removeprefix(_BOM)
        return line.decode("utf-8", "surrogateescape")

    def _refuse(self, number: int) -> None:
        raise InvalidUpload(
            f"line {number} is longer than {MAX_LINE // 1024} KiB; is a quote not closed?"
        )


def _read_csv(lines: _Lines) -> Iterator[UploadLine | LineFault]:
    reader = csv.reader(iter(lines), strict=True)
    names = _head(reader, lines)
    while True:
        lines.begin_record()
        begin = lines.number + 1
        try:
            cells = next(reader, None)
        except csv.Error as error:
            if _IS_TOO_LONG in str(error):
                raise InvalidUpload(f"line {begin}: {error}; is a quote not closed?") from error
            yield LineFault(begin, FaultKind.FORMAT, f"invalid CSV: {error}")
            continue
        if cells is None:
            return
        if not cells:
            continue
        if len(cells) > len(names):
            said = f"has {len(cells)} cells, and the first line names {len(names)} columns"
            yield LineFault(begin, FaultKind.VARIABLES, said)
            continue
        yield _line(begin, dict(zip(names, cells, strict=False)))


def _head(reader: Iterator[list[str]], lines: _Lines) -> list[str]:
    """Return the names of the columns.

    Raises:
        InvalidUpload: the line is no CSV, or has no user_id, or a wrong name.
    """
    try:
        names = [name.strip() for name in next(reader, [])]
    except csv.Error as error:
        raise InvalidUpload(f"line {lines.number} is invalid CSV: {error}") from error
    if "user_id" not in names:
        raise InvalidUpload("the first line must name the columns, user_id among them")
    if len(names) > MAX_COLUMNS:
        raise InvalidUpload(f"a file may have {MAX_COLUMNS} columns, and the file has {len(names)}")
    wrong = [name for name in names if not _NAME.fullmatch(name)]
    if wrong or len(set(names)) < len(names):
        raise InvalidUpload(
            "the names of columns must differ, and may have letters, digits and _ only"
        )
    return names


def _read_json(lines: Iterable[str]) -> Iterator[UploadLine | LineFault]:
    for number, text in enumerate(lines, start=1):
        if isinstance(lines, _Lines):
            lines.begin_record()
        if not text.strip():
            continue
        try:
            value = orjson.loads(text.encode("utf-8", "surrogateescape"))
        except orjson.JSONDecodeError as error:
            yield LineFault(number, FaultKind.FORMAT, f"invalid JSON: {error.msg}")
            continue
        if not isinstance(value, dict):
            yield LineFault(number, FaultKind.FORMAT, "must be a JSON object")
            continue
        wrong = next((name for name in value if not _NAME.fullmatch(name)), None)
        if wrong is not None or len(value) > MAX_COLUMNS:
            said = f"a line may have {MAX_COLUMNS} names of letters, digits and _ only"
            yield LineFault(number, FaultKind.VARIABLES, said)
            continue
        yield _line(number, value)


def _line(number: int, values: Mapping[str, Any]) -> UploadLine | LineFault:
    """Return the line of its values."""
    variables = dict(values)
    user_id = variables.pop("user_id", "")
    try:
        user_id = _USER_ID.validate_python(user_id.strip() if isinstance(user_id, str) else user_id)
        user_id.encode()
    except (ValidationError, UnicodeEncodeError):
        return LineFault(number, FaultKind.USER_ID, "user_id must be 1 to 128 characters")
    if not variables:
        return UploadLine(number, user_id, "")
    try:
        text = orjson.dumps(variables)
    except orjson.JSONEncodeError:
        return LineFault(number, FaultKind.FORMAT, "must be text in UTF-8")
    if len(text) > MAX_VARIABLES or _NUL in text:
        said = f"the variables may have {MAX_VARIABLES // 1024} KiB, without NUL characters"
        return LineFault(number, FaultKind.VARIABLES, said)
    return UploadLine(number, user_id, text.decode())
