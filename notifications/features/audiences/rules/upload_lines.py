"""Lines of an upload, from a stream of bytes: CSV or NDJSON, with bounded memory.

    user_id,code,name          {"user_id": "u_1", "code": "X7"}
    u_1,X7,"Maria,
    of Berlin"

The first line of CSV names the columns; `csv_reader` says which files are taken. Other columns
than `user_id` are variables of the recipient. A wrong line is a fault with its number; a wrong
head, a line that is too long, or a quote that is not closed, ends the upload.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from enum import StrEnum
from typing import Any, Final

import orjson
from pydantic import TypeAdapter, ValidationError

from notifications.core.rules.csv_reader import (
    BadRecord,
    ByteStream,
    CsvReader,
    InvalidFile,
    TextLines,
)
from notifications.core.rules.request import UserId

MAX_COLUMNS: Final = 64
MAX_VARIABLES: Final = 16 * 1024
"""Bytes of the variables of a recipient as JSON."""
_NAME: Final = re.compile(r"[A-Za-z_][A-Za-z0-9_]{0,63}", re.ASCII)
_USER_ID: Final = TypeAdapter(UserId)
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
    """A wrong head, a line that is too long or an open quote: nothing of the file is kept."""


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
        InvalidUpload: the head is wrong, a line is too long, or a quote is not closed.
    """
    try:
        yield from _read_csv(stream) if form is UploadFormat.CSV else _read_json(stream)
    except InvalidFile as error:
        raise InvalidUpload(str(error)) from error


def _read_csv(stream: ByteStream) -> Iterator[UploadLine | LineFault]:
    reader = CsvReader(stream, required=("user_id",))
    names = reader.names
    _check_names(names)
    for record in reader:
        if isinstance(record, BadRecord):
            yield LineFault(record.number, FaultKind.FORMAT, record.detail)
        elif len(record.cells) > len(names):
            said = f"has {len(record.cells)} cells, and the first line names {len(names)} columns"
            yield LineFault(record.number, FaultKind.VARIABLES, said)
        else:
            yield _line(record.number, dict(zip(names, record.cells, strict=False)))


def _check_names(names: list[str]) -> None:
    """Check the names of the columns.

    Raises:
        InvalidUpload: a wrong name, or too many names.
    """
    if len(names) > MAX_COLUMNS:
        raise InvalidUpload(f"a file may have {MAX_COLUMNS} columns, and the file has {len(names)}")
    wrong = [name for name in names if not _NAME.fullmatch(name)]
    if wrong or len(set(names)) < len(names):
        raise InvalidUpload(
            "the names of columns must differ, and may have letters, digits and _ only"
        )


def _read_json(stream: ByteStream) -> Iterator[UploadLine | LineFault]:
    lines = TextLines(stream)
    for number, text in enumerate(lines, start=1):
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
