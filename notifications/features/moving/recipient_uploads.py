"""CSV of recipients over the API and the admin: a file that fits into memory and one request."""

from __future__ import annotations

import io
import threading
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from typing import Final

from notifications.core.rules.csv_reader import CsvReader, InvalidFile, Record
from notifications.core.rules.lane import Mode
from notifications.features.moving import plans
from notifications.features.moving.export import ExportFile, WrongExport
from notifications.features.moving.plans import Import, Report
from notifications.features.moving.recipients import Author
from notifications.features.moving.vendors import recipient_csv
from providers.contract import Channel

MAX_BYTES: Final = 4 * 1024 * 1024
MAX_LINES: Final = 2_000
"""Lines of a file, so that a request ends within its time limit; `manage.py import_from csv` has no
limit."""
MAX_TOKENS: Final = 5_000
"""Device tokens of a file; the transaction of the import holds a lock of PostgreSQL for each."""
AT_ONCE: Final = 2
"""Imports that a process runs at the same time; each holds a connection to the database."""
_NAME: Final = "file"
_TOKENS: Final = frozenset(
    name for name, (channel, _) in recipient_csv.CONTACTS.items() if channel is Channel.PUSH
)
_TOO_LONG: Final = (
    f"{_NAME}: a file may have {MAX_LINES} lines, {MAX_TOKENS} device tokens and {MAX_BYTES} bytes;"
    " split the file, or run manage.py import_from csv"
)

_room = threading.BoundedSemaphore(AT_ONCE)


class ImportsBusy(Exception):
    """The process runs enough imports at the moment: repeat the call later."""


def parts_of(raw: bytes) -> Sequence[str]:
    """Return the parts of a recipient that the columns of a file change: contacts, preferences.

    Raises:
        WrongExport: the first line is unusable.
    """
    try:
        names = set(
            CsvReader(io.BytesIO(raw), required=("user_id",), known=recipient_csv.COLUMNS).names
        )
    except InvalidFile as error:
        raise WrongExport(f"{_NAME}: {error}") from error
    columns = {"contacts": recipient_csv.CONTACTS, "preferences": recipient_csv.PREFERENCES}
    return [part for part, of_part in columns.items() if not names.isdisjoint(of_part)]


def count_records(raw: bytes) -> int:
    """Return the number of lines with a text, for each kind of line end.

    Raises:
        WrongExport: the first line is unusable, a line cannot be separated, or the file is too
            long.
    """
    lines = tokens = 0
    try:
        records = CsvReader(io.BytesIO(raw), required=("user_id",), known=recipient_csv.COLUMNS)
        places = [at for at, name in enumerate(records.names) if name in _TOKENS]
        for record in records:
            lines += 1
            cells = record.cells if isinstance(record, Record) else []
            tokens += sum(len(cells[at].split()) for at in places if at < len(cells))
            if lines > MAX_LINES or tokens > MAX_TOKENS:
                raise WrongExport(_TOO_LONG)
    except InvalidFile as error:
        raise WrongExport(f"{_NAME}: {error}") from error
    return lines


def run(raw: bytes, *, mode: Mode, by: str, is_dry: bool, is_partial: bool) -> Report:
    """Import a file; a second time everything is unchanged.

    Args:
        raw: the file.
        mode: mode of the recipients.
        by: the actor in the audit log.
        is_dry: report, and change nothing.
        is_partial: import the other lines although a line has a fault.

    Raises:
        WrongExport: the file is too long, or has no usable first line; nothing was imported.
        ImportsBusy: the process runs AT_ONCE imports already; nothing was imported.
    """
    if len(raw) > MAX_BYTES:
        raise WrongExport(_TOO_LONG)
    count_records(raw)
    wanted = Import(
        vendor="csv",
        read=recipient_csv.read,
        files=[ExportFile(name=_NAME, open=lambda: io.BytesIO(raw))],
        mode=mode,
        author=Author(by=by),
        is_dry=is_dry,
        is_partial=is_partial,
        part=MAX_LINES,
    )
    with _place():
        return plans.run(wanted)


@contextmanager
def _place() -> Iterator[None]:
    if not _room.acquire(blocking=False):
        raise ImportsBusy("too many imports are running; repeat the call")
    try:
        yield
    finally:
        _room.release()
