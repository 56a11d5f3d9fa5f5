"""States of inbox items; the table stays in the core, because an erasure deletes its rows."""

from __future__ import annotations

from enum import IntEnum


class InboxState(IntEnum):
    """State of an inbox item; the column is computed by Postgres from the times of the item."""

    UNSEEN = 0
    """In the inbox, not shown on a screen yet."""
    UNREAD = 1
    """In the inbox, shown, not opened yet."""
    READ = 2
    """In the inbox, opened."""
    ARCHIVED = 3
    SNOOZED = 4
    GONE = 5
    """Withdrawn, deleted, expired, or superseded by a newer item of the same group."""
