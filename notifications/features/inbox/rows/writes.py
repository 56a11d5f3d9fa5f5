"""Changes of inboxes, in one or several transactions; every function is safe to run twice."""

from __future__ import annotations

import datetime as dt
from collections.abc import Collection, Sequence
from typing import Any, Final
from uuid import UUID

import orjson

from notifications.core import clock
from notifications.core.models import Inbox
from notifications.core.rules import ids as row_ids
from notifications.core.rules.inbox_states import InboxState
from notifications.core.store.postgres import db
from notifications.features.inbox.rows import groups, heads, reads
from notifications.features.inbox.rows.heads import Head, Heads
from notifications.features.inbox.rows.items import NO_COUNTS, Counts, NewItem, counts_of
from notifications.features.inbox.rules.words import STATES_BEFORE, InboxAction

_BATCH: Final = 2000
"""Items of a transaction of an action on all items, so that other writers wait only briefly."""
_NEWEST: Final = 2**63 - 1


def add(items: Sequence[NewItem]) -> set[UUID]:
    """Insert items and return the ids of the new items; an existing id is left alone.

    Raises:
        django.db.Error: the database refused the items or is away; no item is stored.
    """
    by_id = {item.id: item for item in items}
    if not by_id:
        return set()
    new: set[UUID] = set()

    def work(locked: Heads) -> None:
        new.clear()
        moves = db.rows("inbox_add", _columns(list(by_id.values())))
        heads.apply(locked, moves)
        for row in moves:
            new.update(row["ids"])
            locked[row["recipient_id"]].expect_change(row["due_at"])

    heads.write({item.recipient_id for item in by_id.values()}, work, creates=True)
    return new


def _columns(items: list[NewItem]) -> dict[str, object]:
    return {
        "ids": [item.id for item in items],
        "recipients": [item.recipient_id for item in items],
        "notifications": [item.notification_id for item in items],
        "types": [item.type for item in items],
        "categories": [item.category for item in items],
        "titles": [item.title for item in items],
        "bodies": [item.body for item in items],
        "urls": [item.url for item in items],
        "images": [item.image_url for item in items],
        "actions": [_json(list(item.actions)) for item in items],
        "data": [_json(item.data) for item in items],
        "keys": [item.collapse_key for item in items],
        "created": [item.created_at for item in items],
        "expires": [item.expires_at for item in items],
    }


def _json(value: object) -> str:
    return orjson.dumps(value).decode()


def mark(
    recipient_id: int,
    action: InboxAction,
    *,
    ids: Collection[UUID] | None = None,
    category: str | None = None,
    until_version: int | None = None,
    snoozed_until: dt.datetime | None = None,
) -> Counts:
    """Apply an action to items of a recipient, and return the counts after the action.

    Args:
        recipient_id: the recipient; ids of other recipients' items have no effect.
        action: an item that already is as wanted stays untouched.
        ids: the items; None: all items of the tab that the action concerns (`STATES_BEFORE`), in
            transactions of up to 2,000 items. A kill between them leaves the older items as they
            were; the same call again completes the action.
        category: only items of this category.
        until_version: no item that arrived after this version of the inbox is touched.
        snoozed_until: end of the snooze, for `SNOOZE` only.

    Raises:
        ValueError: a snooze without an end in the future.
    """
    now = clock.now()
    if action is InboxAction.SNOOZE and (snoozed_until is None or snoozed_until <= now):
        msg = "snoozed_until: a snooze needs an end in the future"
        raise ValueError(msg)
    if ids is None and (counts := _counts_without(recipient_id, action)):
        return counts
    values: dict[str, Any] = {
        "recipient": recipient_id,
        "action": action.value,
        "ids": None if ids is None else list(ids),
        "states": [state.value for state in STATES_BEFORE[action]],
        "category": category,
        "until_version": _NEWEST if until_version is None else until_version,
        "until": snoozed_until,
        "limit": _BATCH,
        "now": now,
    }
    while True:
        head, changed = _mark_batch(recipient_id, values)
        if ids is not None or changed < _BATCH:
            return NO_COUNTS if head is None else counts_of(head.row())


def _counts_without(recipient_id: int, action: InboxAction) -> Counts | None:
    """Return the counts of an inbox without an item for the action; None if a write is needed.

    Clients mark all items as seen at each look. Without this check each look would clear the cache.
    """
    if action not in (InboxAction.SEEN, InboxAction.READ):
        return None
    counts = reads.counts(recipient_id)
    count = counts.unseen if action is InboxAction.SEEN else counts.unread
    return None if count else counts


def _mark_batch(recipient_id: int, values: dict[str, Any]) -> tuple[Head | None, int]:
    count = 0

    def work(locked: Heads) -> None:
        nonlocal count
        head = locked[recipient_id]
        moves = db.rows("inbox_mark", {**values, "version": head.version + 1})
        for row in moves:
            head.move(row["category"], row["before"], row["after"], row["count"])
        count = sum(row["count"] for row in moves)
        if count:
            head.expect_change(values["until"])
        if values["action"] == InboxAction.DELETE:  # a deleted member of a group, not the group
            members = [row for row in moves if row["before"] == InboxState.GONE]
            groups.regroup(locked, members)

    return heads.write([recipient_id], work).get(recipient_id), count


def withdraw(notification_ids: Collection[UUID]) -> set[UUID]:
    """Remove the items of notifications, and return the ids of the items that are removed now.

    The next newest item of a group stands for the group instead of a withdrawn one.
    """
    found = sorted(set(notification_ids))
    ranges = {"first": found, "last": [row_ids.last_delivery_of(each) for each in found]}
    recipients = [row["recipient_id"] for row in db.rows("inbox_of_notifications", ranges)]
    removed: set[UUID] = set()

    def work(locked: Heads) -> None:
        removed.clear()
        values = {**ranges, "recipients": sorted(locked), "now": clock.now()}
        moves = db.rows("inbox_withdraw", values)
        heads.apply(locked, moves)
        groups.regroup(locked, moves)
        for row in moves:
            removed.update(row["ids"])

    if recipients:
        heads.write(recipients, work)
    return removed


def erase(recipient_id: int) -> int:
    """Delete all items and the head of a recipient; returns the number of items.

    Safe to run twice and to interrupt: the head goes with the last items. Publishes version 0.
    """
    total, count = 0, _BATCH

    def work(locked: Heads) -> None:
        nonlocal count
        values = {"recipient": recipient_id, "limit": _BATCH}
        count = db.rows("inbox_erase", values)[0]["count"]
        head = locked[recipient_id]
        head.is_changed, head.is_erased = True, count < _BATCH
        if head.is_erased:
            Inbox.objects.filter(pk=recipient_id).delete()

    while count >= _BATCH:
        count = 0
        heads.write([recipient_id], work)
        total += count
    return total
