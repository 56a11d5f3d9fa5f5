"""Expired items and snoozes that are over: at a read, and by the sweep."""

from __future__ import annotations

import datetime as dt

import pytest

from notifications.core import clock
from notifications.core.models import Inbox, InboxItem
from notifications.features.inbox import sweep
from notifications.features.inbox.rows import reads, settling, writes
from notifications.features.inbox.rows.items import TOO_OLD, Changes, InboxQuery
from notifications.features.inbox.rules.words import InboxAction, InboxTab
from tests.features.inbox.rows.conftest import MakeItem

pytestmark = pytest.mark.django_db

HOUR = dt.timedelta(hours=1)


def later_by(hours: int, monkeypatch: pytest.MonkeyPatch) -> None:
    later = clock.now() + hours * HOUR
    monkeypatch.setattr(clock, "now", lambda: later)


def test_a_snoozed_item_comes_back_unread(
    make_item: MakeItem, monkeypatch: pytest.MonkeyPatch
) -> None:
    item, newer = make_item(), make_item()
    writes.add([item])
    writes.mark(1, InboxAction.READ)
    writes.mark(1, InboxAction.SNOOZE, snoozed_until=clock.now() + HOUR)
    assert reads.page(1, query=InboxQuery()).items == []
    writes.add([newer])
    later_by(2, monkeypatch)
    page = reads.page(1, query=InboxQuery())
    assert [(each.id, each.read_at) for each in page.items] == [(item.id, None), (newer.id, None)]
    assert (page.counts.unseen, page.version) == (2, 5)
    assert reads.page(1, query=InboxQuery(tab=InboxTab.SNOOZED)).items == []
    assert Inbox.objects.get().next_change_at is None


def test_an_expired_item_leaves_pages_and_counts(
    make_item: MakeItem, monkeypatch: pytest.MonkeyPatch
) -> None:
    short, long = (make_item(expires_at=clock.now() + hours * HOUR) for hours in (1, 9))
    writes.add([short, long])
    later_by(2, monkeypatch)
    found = reads.changes({1: 1})[1]
    assert isinstance(found, Changes)
    assert found.removed == [short.id]
    assert reads.counts(1).total == 1
    assert Inbox.objects.get().next_change_at == long.expires_at
    assert InboxItem.objects.get(pk=short.id).removal == "expired"


def test_the_next_item_stands_for_a_group_whose_newest_is_gone(
    make_item: MakeItem, monkeypatch: pytest.MonkeyPatch
) -> None:
    first, second = make_item(collapse_key="k"), make_item(collapse_key="k")
    third = make_item(collapse_key="k", expires_at=clock.now() + HOUR)
    writes.add([first, second, third])
    later_by(2, monkeypatch)
    page = reads.page(1, query=InboxQuery())
    assert [(each.id, each.group_size) for each in page.items] == [(second.id, 2)]
    writes.withdraw([first.notification_id])
    page = reads.page(1, query=InboxQuery())
    assert [(each.id, each.group_size) for each in page.items] == [(second.id, 1)]
    writes.mark(1, InboxAction.DELETE, ids=[second.id])
    assert reads.page(1, query=InboxQuery()).items == []


def test_the_sweep_settles_all_inboxes(
    make_item: MakeItem, monkeypatch: pytest.MonkeyPatch
) -> None:
    writes.add([
        make_item(recipient_id=each, expires_at=clock.now() + HOUR) for each in range(1, 6)
    ])
    assert sweep.run_once(now=clock.now(), limit=2).moved == 0
    later_by(2, monkeypatch)
    assert sweep.run_once(now=clock.now(), limit=2).moved == 5
    assert reads.versions(range(1, 6)) == dict.fromkeys(range(1, 6), 2)
    assert settling.due(now=clock.now(), limit=10) == []


def test_retention_deletes_old_items_and_sends_clients_to_page_1(make_item: MakeItem) -> None:
    old = clock.now() - dt.timedelta(days=91)
    writes.add([make_item(at=old), make_item(at=old), make_item(at=old, created_at=clock.now())])
    writes.add([make_item()])
    assert sweep.purge(now=clock.now(), limit=2).moved == 2
    assert sweep.purge(now=clock.now(), limit=2).moved == 0
    page = reads.page(1, query=InboxQuery())
    assert (len(page.items), page.counts.total, page.version) == (2, 2, 3)
    assert reads.changes({1: 2}) == {1: TOO_OLD}
    assert isinstance(reads.changes({1: 3})[1], Changes)


def test_a_removed_old_item_goes_without_a_new_version(make_item: MakeItem) -> None:
    old = clock.now() - dt.timedelta(days=91)
    writes.add([make_item(at=old)])
    writes.mark(1, InboxAction.DELETE)
    before = clock.now().date()
    assert settling.purge(before=before, after=settling.PURGE_START, limit=9).deleted == 1
    assert reads.versions([1]) == {1: 2}
    assert reads.changes({1: 1}) == {1: TOO_OLD}
    assert isinstance(reads.changes({1: 2})[1], Changes)
