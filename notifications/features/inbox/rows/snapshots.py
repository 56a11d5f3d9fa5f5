"""An inbox at one instant, as Postgres and the state Redis hold the inbox."""

from __future__ import annotations

import datetime as dt
import zlib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Final
from uuid import UUID

import orjson

from notifications.features.inbox.rows.items import Item

_FIELDS: Final = Item._fields
_IDS: Final = (_FIELDS.index("id"), _FIELDS.index("notification_id"))
_TIMES: Final = tuple(
    number for number, name in enumerate(_FIELDS) if name.endswith("_at") or name == "snoozed_until"
)
_LEVEL: Final = 1
"""Of zlib: a fifth of the size; the higher levels cost twice the time for a tenth less."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Snapshot:
    """The head and items of an inbox."""

    head: Mapping[str, Any] | None
    """Version, counts and `next_change_at`; None: the recipient has no inbox."""
    items: Sequence[Item]

    def is_over(self, now: dt.datetime) -> bool:
        """Return True if an item has expired or a snooze has ended since the last settling."""
        return self.head is not None and is_over(self.head, now)


def is_over(head: Mapping[str, Any], now: dt.datetime) -> bool:
    """Return True if an item has expired or a snooze has ended since the last settling."""
    return head["next_change_at"] is not None and head["next_change_at"] <= now


def head_of(row: Mapping[str, Any]) -> dict[str, Any]:
    """Return the head from a row of a page, whose column `version` is of the item."""
    names = ("unseen", "unread", "total", "categories", "next_change_at")
    return {"version": row["head_version"]} | {name: row[name] for name in names}


def encode(snapshot: Snapshot) -> bytes:
    """Return a snapshot as compressed JSON."""
    value = {"head": snapshot.head, "items": [list(item) for item in snapshot.items]}
    return zlib.compress(orjson.dumps(value), _LEVEL)


def decode(value: bytes) -> Snapshot:
    """Return the snapshot of `encode`."""
    content = orjson.loads(zlib.decompress(value))
    head = content["head"]
    if head is not None and head["next_change_at"] is not None:
        head["next_change_at"] = dt.datetime.fromisoformat(head["next_change_at"])
    return Snapshot(head=head, items=[_item(each) for each in content["items"]])


def _item(columns: list[Any]) -> Item:
    for number in _TIMES:
        if columns[number] is not None:
            columns[number] = dt.datetime.fromisoformat(columns[number])
    for number in _IDS:
        columns[number] = UUID(columns[number])
    return Item._make(columns)
