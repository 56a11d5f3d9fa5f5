"""Recipients with tokens and their items, for the benchmarks of the live process."""

from __future__ import annotations

import datetime as dt
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from typing import NamedTuple

from django.db import connection, connections

from notifications.core import clock
from notifications.core.models import Producer, Recipient
from notifications.core.rules import ids
from notifications.core.rules.lane import Mode
from notifications.core.rules.recipient_tokens import TokenScope
from notifications.core.store.postgres import api_keys
from notifications.features.inbox.rows import writes
from notifications.features.inbox.rows.items import NewItem
from notifications.features.recipient_tokens import minting


class Listener(NamedTuple):
    """A recipient with a token."""

    pk: int
    token: str


@contextmanager
def people(count: int) -> Iterator[list[Listener]]:
    """Make recipients, and delete them and their items at the end."""
    rows = Recipient.objects.bulk_create(
        (Recipient(mode=Mode.LIVE, user_id=f"live-{number}") for number in range(count)),
        batch_size=1_000,
    )
    try:
        yield list(_with_tokens(rows))
    finally:
        with connection.cursor() as running:
            running.execute("TRUNCATE inbox, inbox_item")
            running.execute("DELETE FROM notifications_recipient WHERE user_id LIKE 'live-%%'")
        connections.close_all()


def _with_tokens(rows: Sequence[Recipient]) -> Iterator[Listener]:
    producer = Producer.objects.get(name="bench")
    row, _ = api_keys.issue(producer, mode=Mode.LIVE, scopes=["recipients:write"])
    key = api_keys.of_prefix(row.prefix)
    assert key is not None
    for each in rows:
        token = minting.mint(
            each.user_id,
            key=key,
            scopes=[TokenScope.INBOX_READ],
            lifetime=dt.timedelta(hours=1),
            now=clock.now(),
        )
        yield Listener(each.pk, token.text)


def add(people: Sequence[Listener]) -> None:
    """Store an item for each recipient in one transaction."""
    writes.add([_item(each.pk) for each in people])


def _item(recipient_id: int) -> NewItem:
    now = clock.now()
    notification = clock.new_notification_id()
    return NewItem(
        id=ids.delivery_id(notification, 1),
        recipient_id=recipient_id,
        notification_id=notification,
        type="BENCH_ORDER",
        category="orders",
        title="Your order is on its way",
        body="The courier has your order and will be with you between 14:00 and 15:00.",
        url="https://shop.example.com/orders/4711",
        created_at=now,
    )
