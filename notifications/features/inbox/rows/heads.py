"""Heads of inboxes: the lock, the version and the counts."""

from __future__ import annotations

import datetime as dt
from collections import defaultdict
from collections.abc import Callable, Collection, Iterable, Mapping
from dataclasses import dataclass
from typing import Any, Final

import orjson
from django.db import Error, OperationalError, transaction

from notifications.core import clock
from notifications.core.rules.inbox_states import InboxState
from notifications.core.store.postgres import db
from notifications.features.inbox.rows import cache
from notifications.features.inbox.rules.words import STATES_OF_TAB, UNREAD_STATES, InboxTab

LONGEST: Final = 20.0
"""Seconds of a transaction between the mark and the commit; a longer one is rolled back."""
_IN_INBOX: Final = frozenset(STATES_OF_TAB[InboxTab.INBOX])
_UNREAD: Final = frozenset(UNREAD_STATES)


@dataclass(slots=True, kw_only=True)
class Head:
    """A locked row of `inbox`; `move` and the setters change the copy, and `write` stores it."""

    recipient_id: int
    version: int
    oldest_version: int
    unseen: int
    unread: int
    total: int
    categories: dict[str, list[int]]
    next_change_at: dt.datetime | None
    is_changed: bool = False
    """True: the version grows by one."""
    is_rewritten: bool = False
    """True: another column is new, and the version stays."""
    is_erased: bool = False
    """True: the row is deleted."""

    def move(self, category: str, before: int, after: int, count: int) -> None:
        """Count items with a changed state; the version grows also with equal counts."""
        self.is_changed = True
        unseen = count * ((after == InboxState.UNSEEN) - (before == InboxState.UNSEEN))
        unread = count * ((after in _UNREAD) - (before in _UNREAD))
        self.unseen += unseen
        self.unread += unread
        self.total += count * ((after in _IN_INBOX) - (before in _IN_INBOX))
        if unseen or unread:
            old = self.categories.get(category, [0, 0])
            self.categories[category] = [old[0] + unseen, old[1] + unread]
            if self.categories[category] == [0, 0]:
                del self.categories[category]

    def expect_change(self, at: dt.datetime | None) -> None:
        """Note the time of an expiry or of the end of a snooze."""
        if at is not None and (self.next_change_at is None or at < self.next_change_at):
            self.next_change_at = at
            self.is_rewritten = True

    def forget_changes(self, version: int) -> None:
        """Note that the changes up to a version are incomplete from now on."""
        if version > self.oldest_version:
            self.oldest_version = version
            self.is_rewritten = True

    def row(self) -> dict[str, Any]:
        """Return the columns as a row of `inbox`."""
        return {
            "recipient_id": self.recipient_id,
            "version": self.version,
            "unseen": self.unseen,
            "unread": self.unread,
            "total": self.total,
            "categories": self.categories,
            "next_change_at": self.next_change_at,
        }


Heads = Mapping[int, Head]
"""Locked heads by recipient."""


def write(
    recipient_ids: Collection[int], work: Callable[[Heads], None], *, creates: bool = False
) -> Heads:
    """Lock heads, run `work`, and store the changed heads, all in one transaction.

    In an open transaction the write becomes a part of it; the transaction then has to end within
    a minute, and the cache is in use again after its commit.

    Args:
        recipient_ids: recipients of all items that `work` changes.
        work: changes items and counts them on the heads (`apply`); runs again after a deadlock.
        creates: recipients without a head get a head; otherwise the heads do not have them.

    Returns:
        The heads after the write.

    Raises:
        Error: the database refused the write.
        OperationalError: the database is away, a lock was not granted, or the write took longer
            than LONGEST. After the last two the write is undone.
    """
    recipients, token = sorted(set(recipient_ids)), cache.new_token()
    try:
        return db.in_transaction(lambda: _write(recipients, token, work, creates=creates))
    except Error as error:
        if db.is_undone(error):  # otherwise the commit may still come: the mark ends by itself
            cache.release(recipients, {}, token=token)
        raise


def _write(
    recipients: list[int], token: str, work: Callable[[Heads], None], *, creates: bool
) -> Heads:
    began = clock.monotonic()
    is_marked = cache.mark(recipients, token)
    parameters = {"recipients": recipients}
    if creates:
        db.run("inbox_insert_heads", parameters)
    heads = {row["recipient_id"]: _head(row) for row in db.rows("inbox_lock", parameters)}
    if heads:
        work(heads)
        _store(list(heads.values()))
    versions = {each.recipient_id: each.version for each in heads.values() if each.is_changed}
    if versions and not is_marked:
        cache.note_uncleared(versions)
    if clock.monotonic() - began > LONGEST:
        msg = f"a write of inboxes took longer than {LONGEST:.0f} s; it is undone: try again"
        raise OperationalError(msg)
    finish = cache.release if is_marked else cache.clear
    transaction.on_commit(lambda: finish(recipients, versions, token=token))
    return heads


def _head(row: Mapping[str, Any]) -> Head:
    """Return the head of a row of `inbox_lock.sql`; orjson is faster than psycopg's JSON."""
    return Head(**{**row, "categories": orjson.loads(row["categories"])})


def apply(heads: Heads, moves: Iterable[Mapping[str, Any]]) -> None:
    """Count the moves that a statement returned; rows have the columns of `inbox_withdraw.sql`."""
    for row in moves:
        head = heads[row["recipient_id"]]
        head.move(row["category"], row["before"], row["after"], row["count"])


def _store(heads: list[Head]) -> None:
    stored = [head for head in heads if head.is_changed or head.is_rewritten]
    columns: dict[str, list[Any]] = defaultdict(list)
    for head in stored:
        head.version = 0 if head.is_erased else head.version + head.is_changed
        columns["recipients"].append(head.recipient_id)
        columns["versions"].append(head.version)
        columns["oldest"].append(head.oldest_version)
        columns["unseen"].append(head.unseen)
        columns["unread"].append(head.unread)
        columns["total"].append(head.total)
        columns["categories"].append(orjson.dumps(head.categories).decode())
        columns["next"].append(head.next_change_at)
    if stored:
        db.run("inbox_set_heads", columns)
