"""Writes: idempotent, counted, versioned, grouped."""

from __future__ import annotations

import datetime as dt
from collections.abc import Sequence
from uuid import UUID

import pytest

from notifications.core import clock
from notifications.core.models import ErasureJob, Inbox, InboxItem
from notifications.core.rules.lane import Mode
from notifications.features.inbox.rows import reads, writes
from notifications.features.inbox.rows.items import CategoryCounts, Counts, InboxQuery
from notifications.features.inbox.rules.words import InboxAction, InboxTab
from tests.features.inbox.rows.conftest import MakeItem

pytestmark = pytest.mark.django_db

HOUR = dt.timedelta(hours=1)


def shown(tab: InboxTab = InboxTab.INBOX, **query: object) -> Sequence[UUID]:
    found = reads.page(1, query=InboxQuery(tab=tab, **query))  # type: ignore[arg-type]  # names
    return [item.id for item in found.items]


def numbers(counts: Counts) -> tuple[int, int, int, int]:
    return counts.version, counts.unseen, counts.unread, counts.total


def test_an_item_is_added_once(make_item: MakeItem) -> None:
    first, second = make_item(), make_item(data={"a": [1]}, actions=[{"id": "x", "label": "X"}])
    assert writes.add([first, second, first]) == {first.id, second.id}
    assert writes.add([first, second]) == set()
    page = reads.page(1, query=InboxQuery())
    assert [item.id for item in page.items] == [second.id, first.id]
    assert page.items[0].data == {"a": [1]}
    assert page.items[0].actions == [{"id": "x", "label": "X"}]
    assert numbers(page.counts) == (1, 2, 2, 2)
    assert page.counts.categories == {"orders": CategoryCounts(unseen=2, unread=2)}


def test_each_recipient_has_a_version(make_item: MakeItem) -> None:
    writes.add([make_item(), make_item(recipient_id=2)])
    writes.add([make_item()])
    assert reads.versions([1, 2, 3]) == {1: 2, 2: 1, 3: 0}


def test_actions_move_items_and_counts(make_item: MakeItem) -> None:
    items = [make_item() for _ in range(3)]
    writes.add(items)
    one = [items[0].id]
    assert numbers(writes.mark(1, InboxAction.SEEN, ids=one)) == (2, 2, 3, 3)
    assert numbers(writes.mark(1, InboxAction.READ, ids=one)) == (3, 2, 2, 3)
    assert numbers(writes.mark(1, InboxAction.READ, ids=one)) == (3, 2, 2, 3)
    assert numbers(writes.mark(1, InboxAction.UNREAD, ids=one)) == (4, 2, 3, 3)
    assert numbers(writes.mark(1, InboxAction.ARCHIVE, ids=one)) == (5, 2, 2, 2)
    assert shown(InboxTab.ARCHIVED) == one
    assert numbers(writes.mark(1, InboxAction.UNARCHIVE, ids=one)) == (6, 2, 3, 3)
    later = clock.now() + HOUR
    counts = writes.mark(1, InboxAction.SNOOZE, ids=one, snoozed_until=later)
    assert numbers(counts) == (7, 2, 2, 2)
    assert shown(InboxTab.SNOOZED) == one
    assert Inbox.objects.get().next_change_at == later
    assert numbers(writes.mark(1, InboxAction.UNSNOOZE, ids=one)) == (8, 2, 3, 3)
    assert numbers(writes.mark(1, InboxAction.DELETE, ids=one)) == (9, 2, 2, 2)
    assert shown() == [items[2].id, items[1].id]
    assert reads.items(1, [each.id for each in items]).keys() == {items[1].id, items[2].id}
    assert InboxItem.objects.get(pk=items[0].id).body == ""


def test_a_snooze_needs_an_end_in_the_future(make_item: MakeItem) -> None:
    writes.add([make_item()])
    for until in (None, clock.now()):
        with pytest.raises(ValueError, match="future"):
            writes.mark(1, InboxAction.SNOOZE, snoozed_until=until)


def test_an_action_on_all_leaves_newer_items_and_other_categories(make_item: MakeItem) -> None:
    old, news, late = make_item(), make_item(category="news"), make_item()
    writes.add([old, news])
    writes.mark(1, InboxAction.SEEN)  # a change of an old item does not make the item newer
    writes.add([late])
    assert numbers(writes.mark(1, InboxAction.READ, until_version=1, category="orders"))[1:] == (
        1,
        2,
        3,
    )
    assert shown(unread=True) == [late.id, news.id]
    assert shown(unread=True, category="news") == [news.id]
    assert shown(category="orders") == [late.id, old.id]


def test_an_action_on_all_takes_more_items_than_a_batch(
    make_item: MakeItem, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(writes, "_BATCH", 2)
    writes.add([make_item() for _ in range(5)])
    assert numbers(writes.mark(1, InboxAction.READ)) == (4, 0, 0, 5)


def test_items_of_another_recipient_stay(make_item: MakeItem) -> None:
    item = make_item(recipient_id=2)
    writes.add([item, make_item()])
    writes.mark(1, InboxAction.DELETE, ids=[item.id])
    assert reads.counts(2).total == 1
    assert writes.mark(3, InboxAction.READ).version == 0


def test_the_newest_item_stands_for_its_group(make_item: MakeItem) -> None:
    likes = [make_item(collapse_key="likes") for _ in range(3)]
    writes.add(likes[:2])
    writes.add([likes[2], make_item(recipient_id=2, collapse_key="likes")])
    page = reads.page(1, query=InboxQuery())
    assert [(item.id, item.group_size) for item in page.items] == [(likes[2].id, 3)]
    assert numbers(page.counts) == (2, 1, 1, 1)
    assert shown(group="likes") == [like.id for like in reversed(likes)]
    writes.mark(1, InboxAction.READ, ids=[likes[2].id])
    assert InboxItem.objects.filter(recipient_id=1, read_at=None).count() == 0


def test_an_item_that_was_held_stands_for_its_group_at_the_arrival(make_item: MakeItem) -> None:
    held, prompt = make_item(collapse_key="likes"), make_item(collapse_key="likes")
    writes.add([prompt])
    writes.add([held])
    page = reads.page(1, query=InboxQuery())
    assert [(item.id, item.group_size) for item in page.items] == [(held.id, 2)]
    assert shown(group="likes") == [held.id, prompt.id]
    writes.withdraw([held.notification_id])
    assert shown() == [prompt.id]


def test_an_archived_group_is_closed(make_item: MakeItem) -> None:
    first, second = make_item(collapse_key="likes"), make_item(collapse_key="likes")
    writes.add([first])
    writes.mark(1, InboxAction.ARCHIVE, ids=[first.id])
    writes.add([second])
    page = reads.page(1, query=InboxQuery())
    assert [(item.id, item.group_size) for item in page.items] == [(second.id, 1)]
    assert shown(InboxTab.ARCHIVED, group="likes") == [first.id]


def test_a_withdrawn_notification_leaves_the_inbox(make_item: MakeItem) -> None:
    first, second = make_item(), make_item()
    writes.add([first, second])
    assert writes.withdraw([first.notification_id]) == {first.id}
    assert writes.withdraw([first.notification_id]) == set()
    assert shown() == [second.id]
    assert numbers(reads.counts(1)) == (2, 1, 1, 1)


def test_erasure_leaves_nothing_of_the_recipient(make_item: MakeItem) -> None:
    writes.add([make_item(), make_item(), make_item(recipient_id=2)])
    writes.mark(1, InboxAction.READ)
    assert writes.erase(1) == 2
    assert writes.erase(1) == 0
    assert list(Inbox.objects.values_list("pk", flat=True)) == [2]
    assert list(InboxItem.objects.values_list("recipient_id", flat=True)) == [2]


def test_an_item_that_comes_after_the_erasure_is_not_stored(make_item: MakeItem) -> None:
    """A worker was held up between the claim and the call for longer than the erasure took."""
    ErasureJob.objects.create(mode=Mode.LIVE, recipient_id=1, requested_by="tests")
    late, other = make_item(), make_item(recipient_id=2)
    assert writes.add([late, other]) == {other.id}
    assert not Inbox.objects.filter(recipient_id=1).exists()
    assert not InboxItem.objects.filter(recipient_id=1).exists()
