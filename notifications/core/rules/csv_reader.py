"""CSV files as spreadsheets write them, from a stream of bytes and with bounded memory.

Accepted without a setting: `,`, `;` or a tab between cells, read from the first line (or from a
line `sep=;` above it); UTF-8, and UTF-16 with a byte order mark; line ends of each system; lines
without a text; empty cells and names at the end of a line; a name in another case; a 0x1A at the
end of the file. Each other fault is told with its line.
"""

from __future__ import annotations

import codecs
import csv
import io
import re
from collections.abc import Collection, Iterator
from dataclasses import dataclass
from itertools import chain
from typing import Final, Protocol

MAX_LINE: Final = 256 * 1024
"""Bytes of a line in UTF-8, quoted line feeds included."""
_CHUNK: Final = 64 * 1024
_LONGEST_BOM: Final = 3
_ENCODINGS: Final = {codecs.BOM_UTF16_LE: "utf-16-le", codecs.BOM_UTF16_BE: "utf-16-be"}
_SEPARATORS: Final = (",", ";", "\t")
_SEPARATOR_LINE: Final = re.compile(r'"?sep=([,;\t])"?\s*', re.IGNORECASE)
_END_OF_FILE: Final = "\x1a"
"""Ctrl-Z, which DOS programs write at the end of a file."""
_IS_TOO_LONG: Final = "field larger than field limit"
"""Message of the csv module for a cell of over 128 KiB."""
_IS_AT_THE_END: Final = "unexpected end of data"
"""Message of the csv module for a quote that the file does not close."""


class InvalidFile(ValueError):
    """The file has no usable first line, a line is too long, or a quote is not closed."""


class NotText(InvalidFile):
    """Bytes of the file are not in the encoding."""


class ByteStream(Protocol):
    """A source of bytes."""

    def read(self, size: int, /) -> bytes:
        """Return up to so many bytes; none at the end."""


@dataclass(frozen=True, slots=True)
class Record:
    """The cells of a line, at most as many as there are names unless a further one has a text."""

    number: int
    cells: list[str]


@dataclass(frozen=True, slots=True)
class BadRecord:
    """A line that is no CSV."""

    number: int
    detail: str


class TextLines:
    """The lines of a stream as text; bytes that are not UTF-8 become surrogates."""

    def __init__(self, stream: ByteStream) -> None:
        """Read nothing yet."""
        self._stream = stream
        self.number = 0
        """Number of the last line."""
        self._size = 0

    def begin_record(self) -> None:
        """Count the size of the next record from here."""
        self._size = 0

    def __iter__(self) -> Iterator[str]:
        """Yield each line with its end.

        Raises:
            InvalidFile: a line is too long, or the file is not in the encoding of its mark.
        """
        rest = ""
        for text in self._texts():
            *whole, rest = io.StringIO(rest + text, newline="")
            if rest.endswith(("\n", "\r")):
                whole, rest = [*whole, rest], ""
            yield from map(self._count, whole)
            if len(rest) > MAX_LINE:
                self._refuse(self.number + 1)
        rest = rest.rstrip(_END_OF_FILE)
        if rest:
            yield self._count(rest)

    def _texts(self) -> Iterator[str]:
        """Yield texts that are not empty and end in no half of CRLF.

        Raises:
            NotText: the file is not in the encoding of its mark.
        """
        begin = b""
        while len(begin) < _LONGEST_BOM and (chunk := self._stream.read(_CHUNK)):
            begin += chunk
        encoding, errors = _ENCODINGS.get(begin[:2], "utf-8-sig"), "strict"
        if encoding == "utf-8-sig":
            errors = "surrogateescape"
        else:
            begin = begin[2:]
        bare = codecs.getincrementaldecoder(encoding)(errors)
        decoder = io.IncrementalNewlineDecoder(bare, translate=False)
        try:
            for chunk in chain([begin], iter(lambda: self._stream.read(_CHUNK), b"")):
                if text := decoder.decode(chunk):
                    yield text
            if text := decoder.decode(b"", final=True):
                yield text
        except UnicodeDecodeError as error:
            raise NotText(
                f"the file is no {encoding[:6].upper()} after line {self.number}"
            ) from error

    def _count(self, line: str) -> str:
        self.number += 1
        self._size += len(line) if line.isascii() else len(line.encode(errors="surrogatepass"))
        if self._size > MAX_LINE:
            self._refuse(self.number)
        return line

    def _refuse(self, number: int) -> None:
        raise InvalidFile(
            f"line {number} is longer than {MAX_LINE // 1024} KiB; is a quote not closed?"
        )


class CsvReader:
    """The records of a file with the column names in the first line."""

    def __init__(
        self, stream: ByteStream, *, required: tuple[str, ...], known: Collection[str] = ()
    ) -> None:
        """Read the first line.

        Args:
            stream: the file.
            required: names that the first line must have.
            known: further names taken in each case, as those of `required` are.

        Raises:
            InvalidFile: the line is no CSV, lacks a required name, or has one of these names twice.
        """
        self._lines = TextLines(stream)
        self._texts = iter(self._lines)
        spelled = {name.lower(): name for name in (*required, *known)}
        first = next(self._texts, "")
        told = _SEPARATOR_LINE.fullmatch(first)
        if told:
            first = next(self._texts, "")
        for separator in told[1] if told else _SEPARATORS:
            written = _names(first, separator)
            names = [spelled.get(name.lower(), name) for name in written]
            if set(required) <= set(names):
                break
        else:
            raise InvalidFile(
                f"the first line must name the columns, {' and '.join(required)} among them, with"
                " a comma, a semicolon or a tab between two names"
            )
        _check_repeats(written, spelled)
        self.names = names
        self._separator = separator

    def __iter__(self) -> Iterator[Record | BadRecord]:
        """Yield the records in order, without lines of empty cells.

        Raises:
            InvalidFile: a line is too long, or a record that is no CSV has several lines or the
                file's end: a quote is not closed, and whole lines would be lost in its cell.
        """
        reader = csv.reader(self._texts, strict=True, delimiter=self._separator)
        while True:
            self._lines.begin_record()
            number = self._lines.number + 1
            try:
                cells = next(reader, None)
            except csv.Error as error:
                has_lost_lines = self._lines.number > number or _IS_AT_THE_END in str(error)
                if has_lost_lines or _IS_TOO_LONG in str(error):
                    told = f"line {number}: {error}; is a quote not closed?"
                    raise InvalidFile(told) from error
                yield BadRecord(number, f"invalid CSV: {error}")
                continue
            if cells is None:
                return
            while len(cells) > len(self.names) and not cells[-1].strip():
                cells.pop()
            if any(map(str.strip, cells)):
                yield Record(number, cells)


def _check_repeats(written: list[str], spelled: Collection[str]) -> None:
    """Check for repeated names in `spelled`, in lower case.

    Raises:
        InvalidFile: a name is written twice, perhaps in other capitals.
    """
    before: dict[str, str] = {}
    for name in written:
        folded = name.lower()
        if folded in spelled and folded in before:
            both = f"{before[folded]}, {name}"
            raise InvalidFile(f"the names of columns must differ in more than capitals: {both}")
        before[folded] = name


def _names(line: str, separator: str) -> list[str]:
    """Return the names of the first line, without empty ones at the end.

    Raises:
        InvalidFile: the line is no CSV.
    """
    try:
        cells = next(csv.reader([line], strict=True, delimiter=separator), [])
    except csv.Error as error:
        raise InvalidFile(f"line 1 is invalid CSV: {error}") from error
    names = [name.strip() for name in cells]
    while names and not names[-1]:
        names.pop()
    return names
