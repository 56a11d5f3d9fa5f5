"""The parameters and results of the functions of the inbox."""

from __future__ import annotations

import datetime as dt
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from operator import itemgetter
from typing import Any, Final, NamedTuple
from uuid import UUID

from notifications.features.inbox.rules.words import InboxTab


@dataclass(frozen=True, slots=True, kw_only=True)
class NewItem:
    """An item to add; `id` is the id of the in_app delivery."""

    id: UUID
    recipient_id: int
    notification_id: UUID
    type: str
    category: str
    title: str
    body: str
    url: str = ""
    image_url: str = ""
    actions: Sequence[Mapping[str, Any]] = ()
    data: Mapping[str, Any] = field(default_factory=dict)
    collapse_key: str = ""
    """Up to 255 characters. Items with the same key form a group until the group is archived."""
    created_at: dt.datetime
    expires_at: dt.datetime | None = None
    """None: the item stays until the retention of the inbox ends."""


class Item(NamedTuple):
    """An item as a page shows the item.

    A named tuple, because a page of 50 items is made from the cache in half the time.
    """

    id: UUID
    notification_id: UUID
    type: str
    category: str
    title: str
    body: str
    url: str
    image_url: str
    actions: list[dict[str, Any]]
    data: dict[str, Any]
    collapse_key: str
    group_size: int
    created_at: dt.datetime
    expires_at: dt.datetime | None
    seen_at: dt.datetime | None
    read_at: dt.datetime | None
    archived_at: dt.datetime | None
    snoozed_until: dt.datetime | None
    added_version: int
    """Version of the inbox at the arrival, or at the end of the last snooze: the order of pages."""
    version: int


class Cursor(NamedTuple):
    """The last item of a page; the next page begins behind it."""

    added_version: int
    id: UUID

    @classmethod
    def of(cls, item: Item) -> Cursor:
        """Return the cursor behind an item."""
        return cls(item.added_version, item.id)

    @classmethod
    def parse(cls, text: str) -> Cursor:
        """Return the cursor of a text.

        Raises:
            ValueError: no text of a cursor.
        """
        version, _, name = text.partition(".")
        return cls(int(version), UUID(name))

    def __str__(self) -> str:
        return f"{self.added_version}.{self.id}"


@dataclass(frozen=True, slots=True, kw_only=True)
class InboxQuery:
    """The choice of items of a page."""

    tab: InboxTab = InboxTab.INBOX
    unread: bool = False
    """Only unread items; has no effect on the other tabs than `inbox`."""
    category: str | None = None
    group: str | None = None
    """Collapse key: all items of the groups of this key in the tab, the superseded ones as well."""


@dataclass(frozen=True, slots=True, kw_only=True)
class CategoryCounts:
    """Counts of a category."""

    unseen: int
    unread: int


@dataclass(frozen=True, slots=True, kw_only=True)
class Counts:
    """Counts of the tab `inbox`. A group counts as one item; `unread` includes unseen items."""

    unseen: int
    unread: int
    total: int
    categories: Mapping[str, CategoryCounts]
    """Categories with an unread item."""
    version: int


@dataclass(frozen=True, slots=True, kw_only=True)
class InboxPage:
    """A page, newest arrivals first, and the counts and the version of the same instant."""

    items: Sequence[Item]
    next: Cursor | None
    """Cursor of the next page; None at the end."""
    counts: Counts

    @property
    def version(self) -> int:
        """Return the version of the inbox."""
        return self.counts.version


@dataclass(frozen=True, slots=True, kw_only=True)
class Changes:
    """The present state of all items that have changed since a version."""

    version: int
    items: Sequence[Item]
    """Items of any tab (see `archived_at`, `snoozed_until`), newest arrivals first."""
    removed: Sequence[UUID]
    """Items that are in no tab any more."""
    counts: Counts


class TooOld:
    """The changes since a version are too many or incomplete: the client loads page 1 again."""


TOO_OLD: Final = TooOld()

NO_COUNTS: Final = Counts(unseen=0, unread=0, total=0, categories={}, version=0)
"""Counts of a recipient without an inbox."""


def counts_of(head: Mapping[str, Any]) -> Counts:
    """Return the counts of a row of `inbox`."""
    categories: Mapping[str, Sequence[int]] = head["categories"]
    return Counts(
        unseen=head["unseen"],
        unread=head["unread"],
        total=head["total"],
        categories={
            name: CategoryCounts(unseen=unseen, unread=unread)
            for name, (unseen, unread) in sorted(categories.items())
        },
        version=head["version"],
    )


_columns_of: Final = itemgetter(*Item._fields)


def item_of(row: Mapping[str, Any]) -> Item:
    """Return the item of a row with the columns of `inbox_item`."""
    return Item._make(_columns_of(row))
