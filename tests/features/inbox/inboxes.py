"""Messages in the inboxes of recipients, stored as the in-app channel stores them."""

from __future__ import annotations

import itertools
from typing import Any, Final
from uuid import UUID

from notifications.core import clock
from notifications.core.rules import ids
from notifications.features.inbox.rows import writes
from notifications.features.inbox.rows.items import NewItem

_NUMBERS: Final = itertools.count()


def add_message(recipient_id: int, **fields: Any) -> UUID:  # noqa: ANN401 - the fields of an item
    """Store a message; return the id."""
    given = {
        "type": "ORDER_SHIPPED",
        "category": "orders",
        "title": "On its way",
        "body": "Soon",
        "actions": [{"id": each, "label": each.title()} for each in ("accept", "decline")],
    }
    now_ms = int(clock.now().timestamp() * 1000)
    notification_id = ids.notification_id(at_ms=now_ms + next(_NUMBERS), entropy=0)
    message_id = ids.delivery_id(notification_id, 1)
    item = NewItem(
        id=message_id,
        recipient_id=recipient_id,
        notification_id=notification_id,
        created_at=clock.now(),
        **(given | fields),
    )
    assert writes.add([item]) == {message_id}
    return message_id


def add_messages(recipient_id: int, count: int, **fields: Any) -> list[UUID]:  # noqa: ANN401 - the fields of an item
    """Store messages; return the ids, newest first."""
    return [add_message(recipient_id, **fields) for _ in range(count)][::-1]
