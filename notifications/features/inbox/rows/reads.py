"""Pages, counts and changes of inboxes.

An answer is of one instant: one statement, or one entry of the cache. An inbox with an expired item
or an ended snooze is settled before the answer, so an answer may write.
"""

from __future__ import annotations

import datetime as dt
import zlib
from collections import defaultdict
from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Final
from uuid import UUID

import orjson

from notifications.core import clock, models
from notifications.core.rules.inbox_states import InboxState
from notifications.core.store.postgres import db
from notifications.features.inbox.rows import cache, settling
from notifications.features.inbox.rows.items import (
    NO_COUNTS,
    TOO_OLD,
    Changes,
    Counts,
    Cursor,
    InboxPage,
    InboxQuery,
    Item,
    TooOld,
    counts_of,
    item_of,
)
from notifications.features.inbox.rules.words import STATES_OF_TAB, UNREAD_STATES, InboxTab

PAGE: Final = 50
"""Items of page 1 that the state Redis keeps."""
_PAGE_FIELD: Final = "page:2"
_COUNTS_FIELD: Final = "counts:1"
"""Fields of an entry. A new format gets a new number, because releases run beside each other."""
_FIRST: Final = InboxQuery()
_BEFORE_ALL: Final = Cursor(2**63 - 1, UUID(int=2**128 - 1))
_NO_STATE: Final = -1

_ITEM_FIELDS: Final = Item._fields
_ID_COLUMNS: Final = (_ITEM_FIELDS.index("id"), _ITEM_FIELDS.index("notification_id"))
_TIME_COLUMNS: Final = tuple(
    number
    for number, name in enumerate(_ITEM_FIELDS)
    if name.endswith("_at") or name == "snoozed_until"
)
_COMPRESSION: Final = 1
"""Of zlib: a fifth of the size; the higher levels cost twice the time for a tenth less."""


def page(
    recipient_id: int, *, query: InboxQuery, cursor: Cursor | None = None, limit: int = PAGE
) -> InboxPage:
    """Return up to `limit` items behind `cursor`, newest arrivals first, with the counts.

    Page 1 of the tab `inbox` comes from the state Redis, for up to 50 items.

    Args:
        recipient_id: a recipient without an inbox has an empty page of version 0.
        query: the choice of items.
        cursor: `next` of the previous page.
        limit: items of the page, at least 1.

    Raises:
        django.db.Error: the database is away.
    """
    if query != _FIRST or cursor is not None or limit > PAGE:
        return _page(
            _read_settled(recipient_id, lambda: _read(recipient_id, query, cursor, limit)), limit
        )
    cached = cache.read(recipient_id, _PAGE_FIELD)
    snapshot = None if cached.value is None else decode_snapshot(cached.value)
    if snapshot is None or snapshot.is_over(clock.now()):
        snapshot = _read_settled(recipient_id, lambda: _read(recipient_id, _FIRST, None, PAGE))
        if cached.lease is not None:
            values = {
                _PAGE_FIELD: encode_snapshot(snapshot),
                _COUNTS_FIELD: _encode_counts(snapshot),
            }
            cache.fill(recipient_id, cached.lease, values)
    return _page(snapshot, limit)


def counts(recipient_id: int) -> Counts:
    """Return the counts of a recipient; zeros and version 0 without an inbox.

    Raises:
        django.db.Error: the database is away.
    """
    cached = cache.read(recipient_id, _COUNTS_FIELD)
    snapshot = None if cached.value is None else decode_snapshot(cached.value)
    if snapshot is None or snapshot.is_over(clock.now()):
        snapshot = _read_settled(recipient_id, lambda: _read_head(recipient_id))
        if cached.lease is not None:
            cache.fill(recipient_id, cached.lease, {_COUNTS_FIELD: _encode_counts(snapshot)})
    return NO_COUNTS if snapshot.head is None else counts_of(snapshot.head)


def _encode_counts(snapshot: Snapshot) -> bytes:
    return encode_snapshot(Snapshot(head=snapshot.head, items=[]))


def _read_settled(recipient_id: int, read: Callable[[], Snapshot]) -> Snapshot:
    """Read, and settle the inbox until nothing is over at the time of the answer."""
    snapshot = read()
    while snapshot.is_over(clock.now()):
        settling.settle([recipient_id])
        snapshot = read()
    return snapshot


def _read(recipient_id: int, query: InboxQuery, cursor: Cursor | None, limit: int) -> Snapshot:
    """Read one item more than `limit`."""
    rows = db.rows(_statement(query), _parameters(recipient_id, query, cursor, limit + 1))
    if not rows:
        return Snapshot(head=None, items=[])
    return Snapshot(
        head=_head_of(rows[0]),
        items=[item_of(row) for row in rows if row["id"] is not None],
    )


def _read_head(recipient_id: int) -> Snapshot:
    rows = db.rows("inbox_heads", {"recipients": [recipient_id]})
    return Snapshot(head=rows[0] if rows else None, items=[])


def _page(snapshot: Snapshot, limit: int) -> InboxPage:
    items = snapshot.items
    return InboxPage(
        items=items[:limit],
        next=Cursor.of(items[limit - 1]) if len(items) > limit else None,
        counts=NO_COUNTS if snapshot.head is None else counts_of(snapshot.head),
    )


def _statement(query: InboxQuery) -> str:
    if query.group is not None:
        return "inbox_page_of_group"
    return "inbox_page" if query.category is None else "inbox_page_of_category"


def _parameters(
    recipient_id: int, query: InboxQuery, cursor: Cursor | None, limit: int
) -> dict[str, object]:
    is_unread = query.unread and query.tab is InboxTab.INBOX
    states = [int(state) for state in (UNREAD_STATES if is_unread else STATES_OF_TAB[query.tab])]
    version, last = cursor or _BEFORE_ALL
    first, second, third = [*states, _NO_STATE, _NO_STATE][:3]
    return {
        "recipient": recipient_id,
        "state_a": first,
        "state_b": second,
        "state_c": third,
        "cursor_version": version,
        "cursor": last,
        "limit": limit,
        "category": query.category,
        "group": query.group,
    }


def versions(recipient_ids: Collection[int]) -> dict[int, int]:
    """Return the version of each recipient's inbox; 0 without an inbox."""
    rows = db.rows("inbox_heads", {"recipients": list(recipient_ids)})
    return dict.fromkeys(recipient_ids, 0) | {row["recipient_id"]: row["version"] for row in rows}


def items(recipient_id: int, ids: Collection[UUID]) -> dict[UUID, Item]:
    """Return the recipient's items without removed items."""
    rows = db.rows("inbox_items_by_id", {"recipient": recipient_id, "ids": list(ids)})
    return {row["id"]: item_of(row) for row in rows}


def is_removed(recipient_id: int, item_id: UUID) -> bool:
    """Return True for an item with a row, but outside of the inbox."""
    return models.InboxItem.objects.filter(
        pk=item_id, recipient_id=recipient_id, removed_at__isnull=False
    ).exists()


def changes(since: Mapping[int, int], *, limit: int = 200) -> dict[int, Changes | TooOld]:
    """Return the changes of inboxes since a version, in one statement for all recipients.

    Args:
        since: recipient -> version that the client has.
        limit: changed items of a recipient; more changes are `TOO_OLD`.

    Returns:
        Each recipient of `since` with the changes, or with `TOO_OLD` if the client is to load page
        1 again.
    """
    rows = _rows_since(since, limit)
    now = clock.now()
    over = [each[0]["recipient_id"] for each in rows.values() if _is_over(each[0], now)]
    if over:
        settling.settle(over)
        rows |= _rows_since({recipient: since[recipient] for recipient in over}, limit)
    return {
        recipient: _changes(rows.get(recipient, []), version, limit)
        for recipient, version in since.items()
    }


def _rows_since(since: Mapping[int, int], limit: int) -> dict[int, list[dict[str, Any]]]:
    parameters = {
        "recipients": list(since),
        "versions": list(since.values()),
        "limit": limit + 1,
    }
    rows: dict[int, list[dict[str, Any]]] = defaultdict(list)
    for row in db.rows("inbox_changes", parameters) if since else ():
        rows[row["recipient_id"]].append(row)
    return dict(rows)


def _changes(rows: list[dict[str, Any]], since: int, limit: int) -> Changes | TooOld:
    if not rows:  # no inbox: a client with a version knows an erased inbox
        nothing = Changes(version=0, items=(), removed=(), counts=NO_COUNTS)
        return TOO_OLD if since else nothing
    head = rows[0]
    changed = sorted(
        (row for row in rows if row["id"] is not None),
        key=lambda row: (row["added_version"], row["id"]),
        reverse=True,
    )
    is_known = head["oldest_version"] <= since <= head["head_version"]
    if not is_known or len(changed) > limit:
        return TOO_OLD
    return Changes(
        version=head["head_version"],
        items=[item_of(row) for row in changed if row["state"] != InboxState.GONE],
        removed=[row["id"] for row in changed if row["state"] == InboxState.GONE],
        counts=counts_of(_head_of(head)),
    )


@dataclass(frozen=True, slots=True, kw_only=True)
class Snapshot:
    """The head and items of an inbox at one instant, as Postgres and the state Redis hold them."""

    head: Mapping[str, Any] | None
    """Version, counts and `next_change_at`; None: the recipient has no inbox."""
    items: Sequence[Item]

    def is_over(self, now: dt.datetime) -> bool:
        """Return True if an item has expired or a snooze has ended since the last settling."""
        return self.head is not None and _is_over(self.head, now)


def _is_over(head: Mapping[str, Any], now: dt.datetime) -> bool:
    """Return True if an item has expired or a snooze has ended since the last settling."""
    return head["next_change_at"] is not None and head["next_change_at"] <= now


def _head_of(row: Mapping[str, Any]) -> dict[str, Any]:
    """Return the head from a row of a page; `version` of the row is the item's version."""
    names = ("unseen", "unread", "total", "categories", "next_change_at")
    return {"version": row["head_version"]} | {name: row[name] for name in names}


def encode_snapshot(snapshot: Snapshot) -> bytes:
    """Return a snapshot as compressed JSON."""
    value = {"head": snapshot.head, "items": [list(item) for item in snapshot.items]}
    return zlib.compress(orjson.dumps(value), _COMPRESSION)


def decode_snapshot(value: bytes) -> Snapshot:
    """Return the snapshot of `encode_snapshot`."""
    content = orjson.loads(zlib.decompress(value))
    head = content["head"]
    if head is not None and head["next_change_at"] is not None:
        head["next_change_at"] = dt.datetime.fromisoformat(head["next_change_at"])
    return Snapshot(head=head, items=[_item_of(each) for each in content["items"]])


def _item_of(columns: list[Any]) -> Item:
    for number in _TIME_COLUMNS:
        if columns[number] is not None:
            columns[number] = dt.datetime.fromisoformat(columns[number])
    for number in _ID_COLUMNS:
        columns[number] = UUID(columns[number])
    return Item._make(columns)
