"""Any order of operations and faults: the cache, the counters and the changes say what rows say.

Two threads: the test is the recipients' writers and readers. After each operation page 1 and the
counts are the same with the cache on and off, the counters equal a recount, versions grow by at
most one for each transaction, and a client that applies the changes to an earlier page has the
present page.
"""

from __future__ import annotations

import datetime as dt
from collections import Counter
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any
from uuid import UUID

import pytest
from hypothesis import HealthCheck, settings
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, invariant, rule, run_state_machine_as_test

from notifications.core import clock
from notifications.core.models import Inbox, InboxItem, InboxReport, InboxUncleared
from notifications.core.rules import ids
from notifications.core.rules.inbox_states import InboxState
from notifications.core.store.redis import state
from notifications.features.inbox.rows import cache, reads, settling, writes
from notifications.features.inbox.rows.items import (
    Changes,
    Cursor,
    InboxPage,
    InboxQuery,
    NewItem,
)
from notifications.features.inbox.rows.reads import Snapshot
from notifications.features.inbox.rules.words import STATES_OF_TAB, InboxAction, InboxTab
from tests import examples

pytestmark = pytest.mark.django_db(transaction=True)

RECIPIENTS = (1, 2)
CATEGORIES = ("news", "orders")
recipients = st.sampled_from(RECIPIENTS)
actions = st.sampled_from(InboxAction)
START = dt.datetime(2031, 5, 1, tzinfo=dt.UTC)


@contextmanager
def state_away() -> Iterator[None]:
    """This process reaches the state Redis no more; others still read from it."""
    state._circuit.rests_until = float("inf")
    try:
        yield
    finally:
        state._circuit.rests_until = 0.0


@contextmanager
def killed_after_commit() -> Iterator[None]:
    """The writer dies between the commit and the end of its mark."""
    release, cache.release = cache.release, lambda *_, **__: None
    try:
        yield
    finally:
        cache.release = release


def everything(recipient: int) -> InboxPage:
    return reads.page(recipient, query=InboxQuery(), limit=reads.PAGE)


class AnyOperations(RuleBasedStateMachine):
    def __init__(self) -> None:
        super().__init__()
        self.real_now, self.now = clock.now, START
        clock.now = lambda: self.now
        state.client().flushdb()
        for model in (Inbox, InboxItem, InboxReport, InboxUncleared):
            model.objects.all().delete()
        self.number = 0
        self.items: list[NewItem] = []
        self.clients: dict[int, list[tuple[int, dict[UUID, Any]]]] = {
            each: [(0, {})] for each in RECIPIENTS
        }
        self.slow: list[tuple[int, bytes | None, Snapshot]] = []
        self.versions = dict.fromkeys(RECIPIENTS, 0)

    def teardown(self) -> None:
        clock.now = self.real_now

    def _item(self, recipient: int, category: str, key: str, lasts: int | None) -> NewItem:
        self.number += 1
        at_ms = int(self.now.timestamp() * 1000)
        notification = ids.notification_id(at_ms=at_ms, entropy=self.number)
        return NewItem(
            id=ids.delivery_id(notification, 1),
            recipient_id=recipient,
            notification_id=notification,
            type="t",
            category=category,
            title=f"item {self.number}",
            body="",
            collapse_key=key,
            created_at=self.now,
            expires_at=None if lasts is None else self.now + dt.timedelta(seconds=lasts),
        )

    new_items = st.lists(
        st.tuples(
            recipients,
            st.sampled_from(CATEGORIES),
            st.sampled_from(("", "", "k", "l")),
            st.sampled_from((None, None, 1, 50)),
        ),
        min_size=1,
        max_size=5,
    )

    @rule(new=new_items, backwards=st.booleans())
    def add(self, new: list[tuple[int, str, str, int | None]], *, backwards: bool) -> None:
        items = [self._item(*each) for each in new]
        half = items[len(items) // 2 :]
        for part in (half, items) if backwards else (items, half):  # late ones, and known ones
            self._check_top(writes.add(part), part)
        self.items += items

    def _check_top(self, new: set[UUID], part: list[NewItem]) -> None:
        """The last of the items that have just arrived stands first, whatever its id."""
        for recipient in RECIPIENTS:
            arrived = {each.id for each in part if each.recipient_id == recipient} & new
            if arrived:
                assert everything(recipient).items[0].id == max(arrived)

    @rule(recipient=recipients, action=actions, data=st.data())
    def mark(self, recipient: int, action: InboxAction, data: st.DataObject) -> None:
        chosen = data.draw(st.lists(st.sampled_from(self.items), max_size=4)) if self.items else []
        self._mark(recipient, action, ids=[item.id for item in chosen])

    @rule(
        recipient=recipients,
        action=actions,
        category=st.sampled_from((None, *CATEGORIES)),
        behind=st.sampled_from((None, 0, 2)),
    )
    def mark_all(
        self, recipient: int, action: InboxAction, category: str | None, behind: int | None
    ) -> None:
        version = None if behind is None else max(0, self.versions[recipient] - behind)
        self._mark(recipient, action, category=category, until_version=version)

    def _mark(self, recipient: int, action: InboxAction, **choice: object) -> None:
        until = self.now + dt.timedelta(seconds=7) if action is InboxAction.SNOOZE else None
        counts = writes.mark(recipient, action, snoozed_until=until, **choice)  # type: ignore[arg-type]  # by name
        assert counts == reads.counts(recipient)

    @rule(data=st.data())
    def withdraw(self, data: st.DataObject) -> None:
        if self.items:
            chosen = data.draw(st.lists(st.sampled_from(self.items), max_size=3))
            writes.withdraw([item.notification_id for item in chosen])

    @rule(recipient=recipients)
    def erase(self, recipient: int) -> None:
        writes.erase(recipient)
        self.items = [item for item in self.items if item.recipient_id != recipient]
        self.clients[recipient] = [(0, {})]

    @rule(seconds=st.sampled_from((1, 10, 100)), sweeps=st.booleans())
    def wait(self, seconds: int, *, sweeps: bool) -> None:
        self.now += dt.timedelta(seconds=seconds)
        if sweeps:
            settling.settle(settling.due(now=self.now, limit=10))

    @rule(days=st.sampled_from((1, 3)))
    def purge(self, days: int) -> None:
        self.now += dt.timedelta(days=1)
        before = (self.now - dt.timedelta(days=days)).date()
        while settling.purge(before=before, after=settling.PURGE_START, limit=2).deleted:
            pass

    @rule(new=new_items)
    def die_after_commit(self, new: list[tuple[int, str, str, int | None]]) -> None:
        with killed_after_commit():
            self.add(new, backwards=False)

    @rule()
    def marks_of_killed_writers_end(self) -> None:
        redis = state.client()
        redis.delete(*[f"inbox:writers:{each}" for each in RECIPIENTS])

    @rule(new=new_items, recipient=recipients, action=actions)
    def write_without_state(
        self, new: list[tuple[int, str, str, int | None]], recipient: int, action: InboxAction
    ) -> None:
        with state_away():
            self.add(new, backwards=False)
            self._mark(recipient, action)
        assert InboxUncleared.objects.exists()
        settling.clear_uncleared(limit=10_000)
        assert not InboxUncleared.objects.exists()

    @rule(recipient=recipients)
    def slow_reader_begins(self, recipient: int) -> None:
        """Read the rows under a lease, and store what was read much later."""
        lease = cache.read(recipient, "none").lease
        self.slow.append((recipient, lease, reads._read(recipient, InboxQuery(), None, reads.PAGE)))

    @rule()
    def slow_readers_end(self) -> None:
        for recipient, lease, snapshot in self.slow:
            values = {
                reads._PAGE_FIELD: reads.encode_snapshot(snapshot),
                reads._COUNTS_FIELD: reads._encode_counts(snapshot),
            }
            cache.fill(recipient, lease, values)
        self.slow.clear()

    @rule()
    def state_is_lost(self) -> None:
        state.client().flushdb()

    @invariant()
    def cache_agrees_with_rows(self) -> None:
        for recipient in RECIPIENTS:
            twice = [(everything(recipient), reads.counts(recipient)) for _ in range(2)]
            with state_away():
                plain = (everything(recipient), reads.counts(recipient))
            assert twice == [plain, plain]

    @invariant()
    def pages_have_the_order_of_arrival(self) -> None:
        for recipient in RECIPIENTS:
            for tab in InboxTab:
                rows = [
                    row
                    for row in InboxItem.objects.filter(recipient_id=recipient)
                    if row.state in STATES_OF_TAB[tab]
                ]
                rows.sort(key=lambda row: (row.added_version, row.id), reverse=True)
                cursor: Cursor | None = None
                found: list[UUID] = []
                while cursor is not None or not found:
                    page = reads.page(recipient, query=InboxQuery(tab=tab), cursor=cursor, limit=3)
                    found += [item.id for item in page.items]
                    cursor = page.next
                    if not found:
                        break
                assert found == [row.id for row in rows]

    @invariant()
    def counters_equal_a_recount(self) -> None:
        for recipient in RECIPIENTS:
            counts = reads.counts(recipient)
            rows = list(InboxItem.objects.filter(recipient_id=recipient))
            by_state = Counter(row.state for row in rows)
            unseen = by_state[InboxState.UNSEEN]
            unread = unseen + by_state[InboxState.UNREAD]
            assert (counts.unseen, counts.unread) == (unseen, unread)
            assert counts.total == unread + by_state[InboxState.READ]
            categories = Counter(row.category for row in rows if row.state <= InboxState.UNREAD)
            found = {name: each.unread for name, each in counts.categories.items()}
            assert found == dict(categories)
            for row in rows:
                if row.collapse_key and row.superseded_by is None and row.removed_at is None:
                    group = [each for each in rows if each.group_id == row.group_id]
                    assert row.group_size == sum(each.removed_at is None for each in group)

    @invariant()
    def changes_lead_to_the_present(self) -> None:
        for recipient in RECIPIENTS:
            now = reads.counts(recipient).version
            present = self._tabs(recipient)
            assert all(item.version <= now for item in present.values())
            for version, known in self.clients[recipient]:
                found = reads.changes({recipient: version})[recipient]
                if not isinstance(found, Changes):  # the client loads page 1 again
                    continue
                assert found.counts == reads.counts(recipient)
                assert found.version == now
                fresh = known | {item.id: item for item in found.items}
                assert {key: fresh[key] for key in fresh.keys() - set(found.removed)} == present
            self.versions[recipient] = now
            self.clients[recipient] = [*self.clients[recipient][-6:], (now, present)]

    def _tabs(self, recipient: int) -> dict[UUID, Any]:
        pages = [reads.page(recipient, query=InboxQuery(tab=tab), limit=10_000) for tab in InboxTab]
        return {item.id: item for page in pages for item in page.items}


def test_any_operations_leave_exact_inboxes() -> None:
    run_state_machine_as_test(
        AnyOperations,
        settings=settings(
            max_examples=examples.at_most(15),
            stateful_step_count=16,
            deadline=None,
            suppress_health_check=list(HealthCheck),
        ),
    )
