"""Exported files: CSV line by line, JSON as a whole, each part with its place.

A file ending in `.gz` is decompressed while it is read. A line of CSV has at most 256 KiB, and a
JSON document at most MAX_JSON bytes, so a small compressed file cannot fill the memory.
"""

from __future__ import annotations

import gzip
import zlib
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from itertools import zip_longest
from typing import IO, Any, Final, cast

import orjson

from notifications.core.rules import csv_lines
from notifications.core.rules.csv_reader import BadRecord, CsvReader, InvalidFile
from notifications.features.moving.export import (
    ExportFile,
    ExportPlace,
    Found,
    NotUnderstood,
    WrongExport,
)
from providers.rounds import is_unicode

MAX_JSON: Final = 64 * 1024 * 1024
"""Bytes of a JSON document: about 100,000 subscribers. Export larger sets in pages."""
MAX_TEXT: Final = 1024 * 1024
"""Bytes of a file that is one text."""
MAX_COLUMNS: Final = 256


@dataclass(frozen=True, slots=True)
class CsvLine:
    """A line of CSV: stripped texts by the name of each column, empty for a missing cell."""

    place: ExportPlace
    cells: Mapping[str, str]

    def get(self, name: str) -> str:
        """Return the text of a column; empty for a missing column."""
        return self.cells.get(name, "")


def read_json(file: ExportFile) -> Any:  # noqa: ANN401 - any JSON value
    """Return the document of a file.

    Raises:
        WrongExport: the file is too large, or no JSON.
    """
    with _open(file) as stream:
        raw = stream.read(MAX_JSON + 1)
    if len(raw) > MAX_JSON:
        raise WrongExport(f"{file.name} has more than {MAX_JSON} bytes; export pages")
    try:
        return orjson.loads(raw.removeprefix(b"\xef\xbb\xbf"))
    except orjson.JSONDecodeError as error:
        where = f"line {error.lineno}, column {error.colno}"
        raise WrongExport(f"{file.name}, {where}: the file is no JSON: {error.msg}") from error


def read_text(file: ExportFile) -> str:
    """Return the text of a file.

    Raises:
        WrongExport: the file is too large, or is not UTF-8.
    """
    with _open(file) as stream:
        raw = stream.read(MAX_TEXT + 1)
    if len(raw) > MAX_TEXT:
        raise WrongExport(f"{file.name} has more than {MAX_TEXT} bytes")
    try:
        return raw.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        raise WrongExport(f"{file.name} is not UTF-8") from error


def read_entries(
    file: ExportFile, *keys: str, wanted: str
) -> Iterator[tuple[ExportPlace, Mapping[str, Any]] | NotUnderstood]:
    """Yield the objects of a JSON file: the list itself, or the list below one of `keys`.

    A list of pages, as `jq -s` writes it, counts as its pages one after the other; an object
    without any of the keys counts as a list with one entry.

    Args:
        file: the file.
        keys: paths of lists or of single objects, such as `data` or `data.results`.
        wanted: a key that each entry of the vendor has.

    Raises:
        WrongExport: the file is no JSON, or has no entry with the wanted key.
    """
    document = read_json(file)
    number = entries = 0
    for place, entry in _entries(file.place, document, keys):
        number += 1
        if not isinstance(entry, dict):
            yield NotUnderstood(place, "must be a JSON object")
        elif wanted not in entry:
            yield NotUnderstood(place, f"has no {wanted}")
        else:
            entries += 1
            yield place, entry
    if number and not entries:
        among = f" below {' or '.join(keys)}" if keys else ""
        raise WrongExport(f"{file.name}: no object with {wanted}{among}; see docs/moving.md")


def _entries(
    place: ExportPlace, document: object, keys: tuple[str, ...]
) -> Iterator[tuple[ExportPlace, Any]]:
    if isinstance(document, list):
        for number, each in enumerate(document):
            yield from _page(place.below(number), each, keys)
    else:
        yield from _page(place, document, keys)


def _page(
    place: ExportPlace, page: object, keys: tuple[str, ...]
) -> Iterator[tuple[ExportPlace, Any]]:
    """Yield the entries of a page, or the value itself if it is no page."""
    for key in keys:
        value, below = page, place
        for name in key.split("."):
            value = value.get(name) if isinstance(value, dict) else None
            below = below.below(name)
        if isinstance(value, list):
            yield from ((below.below(number), each) for number, each in enumerate(value))
            return
        if isinstance(value, dict) and key == keys[-1]:
            yield below, value
            return
    yield place, page


def in_form(place: ExportPlace, parts: Iterator[Found]) -> list[Found]:
    """Return the parts of an entry; an entry of another form is one fault with its place.

    A reader takes the form of the vendor's documents for granted, so a list in the place of an
    object ends the reading of the entry by one of these errors.
    """
    try:
        return list(parts)
    except (AttributeError, KeyError, TypeError):
        return [NotUnderstood(place, "has another form than the documents of the vendor say")]


def read_csv(
    file: ExportFile, *, required: tuple[str, ...], known: tuple[str, ...] = ()
) -> Iterator[CsvLine | NotUnderstood]:
    """Yield the lines of a file with the names of the columns in the first line.

    Raises:
        WrongExport: the first line lacks a required column, or a line cannot be separated.
    """
    with _open(file) as stream:
        try:
            reader = CsvReader(stream, required=required, known=known)
            if len(reader.names) > MAX_COLUMNS:
                told = f"{len(reader.names)} columns; at most {MAX_COLUMNS} are read"
                raise WrongExport(f"{file.name}, line 1: {told}")
            for record in reader:
                yield _line(file, reader.names, record)
        except InvalidFile as error:
            raise WrongExport(f"{file.name}: {error}") from error


def _line(file: ExportFile, names: list[str], record: Any) -> CsvLine | NotUnderstood:  # noqa: ANN401 - Record or BadRecord
    place = ExportPlace(file.name, f"line {record.number}")
    if isinstance(record, BadRecord):
        return NotUnderstood(place, record.detail)
    if len(record.cells) > len(names):
        said = f"has {len(record.cells)} cells, and the first line names {len(names)} columns"
        return NotUnderstood(place, said)
    if not is_unicode("".join(record.cells)):
        return NotUnderstood(place, "is not UTF-8")
    texts = (csv_lines.unescape(cell.strip()) for cell in record.cells)
    return CsvLine(place, dict(zip_longest(names, texts, fillvalue="")))


@contextmanager
def _open(file: ExportFile) -> Iterator[IO[bytes]]:
    """Open a file; a compressed one is decompressed.

    Raises:
        WrongExport: the file cannot be read, or is a broken compressed file.
    """
    try:
        stream = file.open()
    except OSError as error:
        raise WrongExport(f"{file.name} cannot be read: {error.strerror}") from error
    with stream:
        if file.name.lower().endswith(".gz"):
            try:
                # GzipFile leaves the file below it open.
                yield cast("IO[bytes]", gzip.GzipFile(fileobj=stream))
            except (EOFError, gzip.BadGzipFile, zlib.error) as error:
                raise WrongExport(f"{file.name}: the file is no whole gzip file") from error
        else:
            yield stream
