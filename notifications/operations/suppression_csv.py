"""The suppression list as CSV, in and out.

    channel,address,reason,note
    email,maria@example.com,bounce,550 5.1.1

`channel` and `address` are required; further columns are ignored. Imported entries have the reason
`import`, and the file's reason goes into the note. A wrong line does not stop the others.
"""

from __future__ import annotations

import csv
import io
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from typing import Final

from django.db.models import QuerySet

from notifications.models import Suppression
from notifications.rules.suppression import Cause, address_fault
from notifications.store.postgres import suppressions
from notifications.store.postgres.suppressions import Entry
from providers.contract import Channel

COLUMNS: Final = ("channel", "address", "reason", "provider", "note", "created_at", "created_by")
FAULTS_TOLD: Final = 100
"""Wrong lines that an answer names; further ones are only counted."""
_MOST_COLUMNS: Final = 32
"""Columns of a file. Other systems' exports have a dozen, and each costs time on each line."""
_AT_ONCE: Final = 5_000
"""Entries in one statement."""
_PER_READ: Final = 2_000
"""Rows that an export fetches at a time."""
_FORMULA: Final = ("=", "+", "-", "@", "\t", "\r")
"""A spreadsheet would run a text with this beginning: an apostrophe is put before a note or mailbox
at export and removed at import. Phone numbers stay as they are."""
_APOSTROPHE: Final = "'"


class NoTable(ValueError):
    """The file is no CSV, or its first line does not name `channel` and `address`."""


@dataclass(frozen=True, slots=True)
class LineFault:
    """One line that was refused."""

    line: int
    detail: str


@dataclass(slots=True)
class Imported:
    """The result of an import."""

    added: int = 0
    known: int = 0
    """On the list already, or twice in the file."""
    refused: int = 0
    faults: list[LineFault] = field(default_factory=list)


def read(text: str, *, by: str) -> Imported:
    """Enter the addresses of a file.

    Raises:
        NoTable: the file cannot be understood; no address was entered.
    """
    lines = csv.reader(io.StringIO(text.removeprefix("\ufeff")), strict=True)
    done = Imported()
    try:
        places = _places(next(lines, []))
        numbered = ((lines.line_num, cells) for cells in lines if cells)
        entries = list(_entries(numbered, places, done))
    except csv.Error as error:
        raise NoTable(f"line {lines.line_num} is no CSV: {error}") from error
    for start in range(0, len(entries), _AT_ONCE):
        done.added += suppressions.add(entries[start : start + _AT_ONCE], by=by)
    done.known = len(entries) - done.added
    return done


def _places(names: list[str]) -> dict[str, int]:
    """The place of each column that is read, from the first line.

    Raises:
        NoTable: the line has too many names, or lacks `channel` or `address`.
    """
    if len(names) > _MOST_COLUMNS:
        raise NoTable(f"a file may have {_MOST_COLUMNS} columns, and this one has {len(names)}")
    places = {name: place for place, name in enumerate(names) if name in COLUMNS}
    if not {"channel", "address"} <= places.keys():
        raise NoTable("the first line must name the columns, channel and address among them")
    return places


def _entries(
    numbered: Iterable[tuple[int, list[str]]], places: Mapping[str, int], done: Imported
) -> Iterator[Entry]:
    for number, cells in numbered:
        given = {name: cells[place] for name, place in places.items() if place < len(cells)}
        found = _entry(given)
        if isinstance(found, Entry):
            yield found
            continue
        done.refused += 1
        if len(done.faults) < FAULTS_TOLD:
            done.faults.append(LineFault(number, found))


def _entry(row: Mapping[str, str]) -> Entry | str:
    """The entry of a line, or what is wrong with it."""
    given = {name: _unguarded(row.get(name, "").strip()) for name in COLUMNS}
    try:
        channel = Channel.from_label(given["channel"])
    except KeyError:
        return f"channel must be one of {', '.join(each.label for each in Channel)}"
    if fault := address_fault(channel, given["address"]):
        return f"address {fault}"
    note = ": ".join(filter(None, (given["reason"], given["note"]))).replace("\0", "")
    return Entry(channel=channel, address=given["address"], cause=Cause.IMPORT, note=note)


def written(found: QuerySet[Suppression]) -> Iterator[str]:
    """The lines of a file, with their ends; newest first.

    Between two pages no cursor is open: whoever reads slowly holds no connection.
    """
    yield _line(COLUMNS)
    for row in _paged(found):
        channel = Channel(row.channel)
        address = row.address if channel is Channel.SMS else _guarded(row.address)
        said = (channel.label, address, row.reason, row.provider, _guarded(row.note))
        yield _line((*said, row.created_at.isoformat(), row.created_by))


def _paged(found: QuerySet[Suppression]) -> Iterator[Suppression]:
    page = list(found.order_by("-pk")[:_PER_READ])
    while page:
        yield from page
        page = list(found.filter(pk__lt=page[-1].pk).order_by("-pk")[:_PER_READ])


def _guarded(text: str) -> str:
    return _APOSTROPHE + text if text.startswith(_FORMULA) else text


def _unguarded(text: str) -> str:
    bare = text.removeprefix(_APOSTROPHE)
    return bare if bare.startswith(_FORMULA) else text


def _line(values: Iterable[str]) -> str:
    line = io.StringIO()
    csv.writer(line).writerow(values)
    return line.getvalue()
