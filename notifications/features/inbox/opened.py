"""Opened messages: a push that the recipient has opened marks the inbox item of its notification.

The mark leads to an inbox report, which ends the push on the recipient's other devices too.
"""

from __future__ import annotations

from collections.abc import Iterable
from uuid import UUID

from notifications.core.rules import ids
from notifications.core.store.postgres import db
from notifications.features.inbox.rows import writes
from notifications.features.inbox.rules.words import InboxAction


def mark_read(recipient_id: int, opened: Iterable[UUID]) -> int:
    """Mark the items of opened messages as read; returns the number of items.

    Safe to run twice: a read item stays as it is. After a kill the app repeats its report.

    Args:
        recipient_id: the recipient; items of others stay untouched.
        opened: ids of notifications or of their deliveries.
    """
    notifications = sorted({
        ids.notification_of(each) if ids.number_of(each) else each for each in opened
    })
    if not notifications:
        return 0
    parameters = {
        "lows": notifications,
        "highs": [ids.last_delivery_of(each) for each in notifications],
        "recipient": recipient_id,
    }
    unread = [row["id"] for row in db.rows("inbox_unread_of", parameters)]
    if unread:
        writes.mark(recipient_id, InboxAction.READ, ids=unread)
    return len(unread)
