"""Items for the tests of the inbox."""

from __future__ import annotations

import datetime as dt
import itertools
from collections.abc import Callable

import pytest

from notifications.core import clock
from notifications.core.rules import ids
from notifications.core.store.redis import state
from notifications.features.inbox.rows.items import NewItem

MakeItem = Callable[..., NewItem]


@pytest.fixture(autouse=True)
def _no_entry_of_another_test() -> None:
    """Recipients have the same ids in each test: entries and marks of the test before go."""
    state.client().flushdb()


@pytest.fixture
def make_item() -> MakeItem:
    """Make items with ids that grow; `recipient_id` is 1, and `at` is the time in the id."""
    number = itertools.count()
    start = clock.now()

    def make(*, at: dt.datetime = start, **changes: object) -> NewItem:
        at += dt.timedelta(milliseconds=next(number))
        notification = ids.notification_id(at_ms=int(at.timestamp() * 1000), entropy=7)
        values: dict[str, object] = {
            "id": ids.delivery_id(notification, 1),
            "recipient_id": 1,
            "notification_id": notification,
            "type": "order_shipped",
            "category": "orders",
            "title": "Shipped",
            "body": "Order 7 is on its way.",
            "created_at": at,
        }
        return NewItem(**values | changes)  # type: ignore[arg-type]  # by name

    return make
