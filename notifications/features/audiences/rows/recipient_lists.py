"""Recipient lists: uploads and snapshots, filled in chunks.

A chunk is one transaction with members and counts. A list before `ready` has no recipients for an
audience, so an incomplete file is never used.
"""

from __future__ import annotations

import datetime as dt
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any, Final

import orjson
from django.db import transaction
from django.db.models import F

from notifications.core import clock
from notifications.core.models import RecipientList, RecipientListMember
from notifications.core.rules.lane import Mode
from notifications.core.rules.recipient_lists import ListState
from notifications.core.store.postgres import db
from notifications.features.audiences.rows.members import Member
from notifications.features.audiences.rules.upload_lines import FaultKind, LineFault, UploadLine

MAX_FAULTS: Final = 100
"""Faults that a list keeps with their lines; further faults are counted."""


class ListEnded(Exception):
    """The list is no longer loading: it was deleted, or declared failed. Upload the file again."""


@dataclass(slots=True)
class Chunk:
    """A part of an uploaded file."""

    lines: list[UploadLine] = field(default_factory=list)
    faults: list[LineFault] = field(default_factory=list)

    def __len__(self) -> int:
        return len(self.lines) + len(self.faults)


def add_lines(list_id: int, chunk: Chunk, *, mode: Mode) -> None:
    """Add the recipients of a chunk to a loading upload; the first line of a recipient counts.

    Raises:
        ListEnded: the upload is no longer loading.
    """
    first: dict[str, UploadLine] = {}
    for line in chunk.lines:
        first.setdefault(line.user_id, line)
    with transaction.atomic():
        row = _lock(list_id)
        parameters = {
            "list": list_id,
            "mode": int(mode),
            "user_ids": list(first),
            "variables": [line.variables for line in first.values()],
        }
        found = db.rows("recipient_list_add", parameters) if first else []
        known = {each["user_id"] for each in found}
        added = sum(each["is_new"] for each in found)
        unknown = [line for line in chunk.lines if line.user_id not in known]
        faults = sorted(
            [
                *chunk.faults,
                *(LineFault(each.number, FaultKind.UNKNOWN, "unknown user_id") for each in unknown),
            ],
            key=lambda fault: fault.number,
        )
        row.lines += len(chunk)
        row.members += added
        row.duplicates += len(chunk.lines) - len(unknown) - added
        row.unknown += len(unknown)
        _note(row, faults)
        row.touched_at = clock.now()
        row.save()


def add_members(list_id: int, members: Sequence[Member], *, old: int, new: int) -> bool:
    """Add a page to a loading snapshot and move the cursor; False if another process did.

    Raises:
        ListEnded: the snapshot is no longer loading.
    """
    with transaction.atomic():
        row = _lock(list_id)
        if row.cursor != old:
            return False
        records = [(list_id, each.recipient_id, _json(each.variables)) for each in members]
        columns = ("list_id", "recipient_id", "variables")
        db.insert(db.Rows("recipient_list_member", columns, records))
        rows = RecipientList.objects.filter(pk=list_id)
        rows.update(cursor=new, members=F("members") + len(members), touched_at=clock.now())
    return True


def finish(list_id: int) -> bool:
    """Make a loading list usable; False if the list is no longer loading."""
    now = clock.now()
    rows = RecipientList.objects.filter(pk=list_id, state=ListState.LOADING, deleted_at=None)
    return bool(rows.update(state=ListState.READY, ready_at=now, touched_at=now))


def fail(list_id: int, *, reason: str) -> None:
    """End the loading of a list; a sweep removes the members."""
    rows = RecipientList.objects.filter(pk=list_id, state=ListState.LOADING)
    rows.update(state=ListState.FAILED, state_reason=reason[:300], touched_at=clock.now())


def delete(list_id: int, *, now: dt.datetime) -> None:
    """Delete a list: no audience uses the list from now on, and a sweep removes the members."""
    RecipientList.objects.filter(pk=list_id, deleted_at=None).update(deleted_at=now)


def purge(list_id: int, *, limit: int) -> int:
    """Remove up to `limit` members of a list; return the number of rows."""
    return db.run("recipient_list_purge", {"list": list_id, "limit": limit})


def has_members(list_id: int) -> bool:
    """Return True if a list has a row of a member."""
    return RecipientListMember.objects.filter(list_id=list_id).exists()


def _lock(list_id: int) -> RecipientList:
    rows = RecipientList.objects.select_for_update()
    row = rows.filter(pk=list_id, state=ListState.LOADING, deleted_at=None).first()
    if row is None:
        raise ListEnded(f"recipient list {list_id} is no longer loading")
    return row


def _note(row: RecipientList, faults: Sequence[LineFault]) -> None:
    """Count faults by kind, and keep the first."""
    for fault in faults:
        row.fault_counts[fault.kind] = row.fault_counts.get(fault.kind, 0) + 1
    room = max(0, MAX_FAULTS - len(row.faults))
    row.faults += [
        {"line": each.number, "kind": each.kind.value, "detail": each.detail}
        for each in faults[:room]
    ]


def _json(variables: Any) -> str | None:  # noqa: ANN401 - whatever JSON holds
    return None if variables is None else orjson.dumps(variables).decode()
