"""Concurrent writers of the same inboxes: no deadlock, no lost count, no gap in the versions."""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor

import pytest
from django.db import connection

from notifications.core.models import InboxItem
from notifications.core.rules.inbox_states import InboxState
from notifications.features.inbox.rows import heads, reads, writes
from notifications.features.inbox.rows.items import InboxQuery
from notifications.features.inbox.rules.words import InboxAction
from tests.features.inbox.rows.conftest import MakeItem

pytestmark = pytest.mark.django_db(transaction=True)

RECIPIENTS = range(1, 7)
ACTIONS = (InboxAction.SEEN, InboxAction.READ, InboxAction.UNREAD, InboxAction.ARCHIVE)


def test_concurrent_writers_lose_nothing(make_item: MakeItem) -> None:
    batches = [
        [
            make_item(recipient_id=each, collapse_key=key)
            for each in (RECIPIENTS[(seed + 5 * step) % 6] for step in range(4))
            for key in ("", "k")
        ]
        for seed in range(40)
    ]

    def work(seed: int) -> list[tuple[int, int]]:
        versions = []
        try:
            for number, batch in enumerate(batches[seed::4]):
                added = writes.add(batch)
                assert added == {item.id for item in batch}
                recipient = RECIPIENTS[(seed + number) % 6]
                counts = writes.mark(recipient, ACTIONS[number % 4])
                versions.append((recipient, counts.version))
                reads.page(recipient, query=InboxQuery())
                writes.withdraw([batch[0].notification_id])
        finally:
            connection.close()
        return versions

    with ThreadPoolExecutor(4) as pool:
        list(pool.map(work, range(4)))
    for recipient in RECIPIENTS:
        counts = reads.counts(recipient)
        states = list(
            InboxItem.objects.filter(recipient_id=recipient).values_list("state", flat=True)
        )
        assert counts.unread == sum(state <= InboxState.UNREAD for state in states)
        assert counts.total == sum(state <= InboxState.READ for state in states)
        assert reads.page(recipient, query=InboxQuery()).counts == counts


def test_versions_of_concurrent_writers_have_no_gap(make_item: MakeItem) -> None:
    batches = [[make_item(recipient_id=each) for each in (2, 1)] for _ in range(40)]

    def work(seed: int) -> None:
        for batch in batches[seed::4]:
            writes.add(batch)
        connection.close()

    with ThreadPoolExecutor(4) as pool:
        list(pool.map(work, range(4)))
    for recipient in (1, 2):
        found = InboxItem.objects.filter(recipient_id=recipient).values_list("version", flat=True)
        assert sorted(found) == list(range(1, 41))


def test_a_write_that_takes_too_long_is_undone(
    make_item: MakeItem, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(heads, "LONGEST", -1.0)
    with pytest.raises(Exception, match="took longer"):
        writes.add([make_item()])
    assert InboxItem.objects.count() == 0
