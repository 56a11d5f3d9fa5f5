"""Import and export of the suppression list as CSV.

    channel,address,reason,note
    email,maria@example.com,bounce,550 5.1.1

`channel` and `address` are required; further columns are ignored. `rules.csv_reader` says which
files are taken. Imported entries have the reason
`import`, and the file's reason goes into the note. A wrong line does not stop the import; a line
that is no CSV or no UTF-8 does.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from typing import Final

from django.db.models import QuerySet

from notifications.core.models import Suppression
from notifications.core.rules import csv_lines
from notifications.core.rules.csv_reader import (
    BadRecord,
    ByteStream,
    CsvReader,
    InvalidFile,
    NotText,
)
from notifications.core.rules.suppression import Cause, address_fault
from notifications.core.store.postgres import suppressions
from notifications.core.store.postgres.suppressions import SuppressionEntry
from providers.contract import Channel
from providers.rounds import is_unicode

COLUMNS: Final = ("channel", "address", "reason", "provider", "note", "created_at", "created_by")
MAX_FAULTS: Final = 100
"""Maximum number of wrong lines in the response; further wrong lines are only counted."""
_MOST_COLUMNS: Final = 32
"""Maximum columns of a file: exports of other systems have a dozen, and each column costs time."""
_AT_ONCE: Final = 5_000
"""Entries in one statement."""
_PER_READ: Final = 2_000
"""Rows of an export in each query."""


@dataclass(frozen=True, slots=True)
class LineFault:
    """A wrong line of the file."""

    line: int
    detail: str


@dataclass(slots=True)
class ImportResult:
    """The result of an import."""

    added: int = 0
    known: int = 0
    """Entries already on the list, or twice in the file."""
    refused: int = 0
    faults: list[LineFault] = field(default_factory=list)


def import_file(file: ByteStream, *, by: str) -> ImportResult:
    """Import the addresses of a file.

    Raises:
        InvalidFile: the file cannot be parsed; no address was imported.
    """
    reader = CsvReader(file, required=("channel", "address"), known=COLUMNS)
    if len(reader.names) > _MOST_COLUMNS:
        told = f"a file may have {_MOST_COLUMNS} columns, and this one has {len(reader.names)}"
        raise InvalidFile(told)
    done = ImportResult()
    entries = list(_entries(reader, done))
    for start in range(0, len(entries), _AT_ONCE):
        done.added += suppressions.add(entries[start : start + _AT_ONCE], by=by)
    done.known = len(entries) - done.added
    return done


def _entries(reader: CsvReader, done: ImportResult) -> Iterator[SuppressionEntry]:
    places = {name: place for place, name in enumerate(reader.names) if name in COLUMNS}
    for record in reader:
        if isinstance(record, BadRecord):
            raise InvalidFile(f"line {record.number} is {record.detail}")
        cells = record.cells
        if not is_unicode("".join(cells)):
            raise NotText(f"line {record.number} is not UTF-8")
        given = {name: cells[place] for name, place in places.items() if place < len(cells)}
        found = _entry(given)
        if isinstance(found, SuppressionEntry):
            yield found
            continue
        done.refused += 1
        if len(done.faults) < MAX_FAULTS:
            done.faults.append(LineFault(record.number, found))


def _entry(row: Mapping[str, str]) -> SuppressionEntry | str:
    """Return the entry of a line, or the error text."""
    given = {name: csv_lines.unescape(row.get(name, "").strip()) for name in COLUMNS}
    try:
        channel = Channel.from_label(given["channel"])
    except KeyError:
        return f"channel must be one of {', '.join(each.label for each in Channel)}"
    if fault := address_fault(channel, given["address"]):
        return f"address {fault}"
    note = ": ".join(filter(None, (given["reason"], given["note"]))).replace("\0", "")
    return SuppressionEntry(
        channel=channel, address=given["address"], cause=Cause.IMPORT, note=note
    )


def export_lines(found: QuerySet[Suppression]) -> Iterator[str]:
    """Return the lines of the file with line ends, newest entry first.

    No cursor is open between two pages, so a slow reader holds no connection.
    """
    yield csv_lines.line(COLUMNS)
    for row in _pages(found):
        channel = Channel(row.channel)
        address = row.address if channel is Channel.SMS else csv_lines.escape(row.address)
        said = (channel.label, address, row.reason, row.provider, csv_lines.escape(row.note))
        yield csv_lines.line((*said, row.created_at.isoformat(), row.created_by))


def _pages(found: QuerySet[Suppression]) -> Iterator[Suppression]:
    page = list(found.order_by("-pk")[:_PER_READ])
    while page:
        yield from page
        page = list(found.filter(pk__lt=page[-1].pk).order_by("-pk")[:_PER_READ])
