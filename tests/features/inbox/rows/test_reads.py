"""Reads: pages, and changes since a version."""

from __future__ import annotations

from typing import Any

import pytest

from notifications.core.store.postgres import db
from notifications.features.inbox.rows import reads, writes
from notifications.features.inbox.rows.items import TOO_OLD, Changes, Cursor, InboxQuery
from notifications.features.inbox.rules.words import InboxAction
from tests.features.inbox.rows.conftest import MakeItem

pytestmark = pytest.mark.django_db


def changes_of(recipient_id: int, since: int) -> Changes:
    found = reads.changes({recipient_id: since})[recipient_id]
    assert isinstance(found, Changes)
    return found


def test_pages_follow_the_cursor(make_item: MakeItem) -> None:
    items = [make_item() for _ in range(5)]
    writes.add(items)
    cursor, found = None, []
    for _ in range(3):
        page = reads.page(1, query=InboxQuery(), cursor=cursor, limit=2)
        found += [item.id for item in page.items]
        cursor = page.next
    assert found == [item.id for item in reversed(items)]
    assert cursor is None


@pytest.mark.parametrize("query", [{}, {"category": "orders"}, {"unread": True}])
def test_pages_have_the_order_of_arrival(make_item: MakeItem, query: dict[str, Any]) -> None:
    held, *prompt = [make_item() for _ in range(4)]
    writes.add(prompt)
    writes.mark(1, InboxAction.READ, ids=[prompt[1].id])
    writes.mark(1, InboxAction.SEEN)
    writes.add([held])
    wanted = [held.id, *(each.id for each in reversed(prompt))]
    if query.get("unread"):
        wanted.remove(prompt[1].id)
    cursor, found = None, []
    for _ in wanted:
        page = reads.page(1, query=InboxQuery(**query), cursor=cursor, limit=1)
        found += [item.id for item in page.items]
        cursor = page.next
    assert found == wanted
    assert cursor is None
    assert changes_of(1, 0).items[0].id == held.id


def test_a_recipient_without_an_inbox_has_an_empty_page() -> None:
    page = reads.page(7, query=InboxQuery())
    assert (len(page.items), page.next, page.version, page.counts.total) == (0, None, 0, 0)
    assert changes_of(7, 0).version == 0
    assert reads.changes({7: 3}) == {7: TOO_OLD}


def test_changes_hold_the_present_items_and_the_removed_ids(make_item: MakeItem) -> None:
    items = [make_item() for _ in range(3)]
    writes.add(items)
    writes.mark(1, InboxAction.READ, ids=[items[0].id])
    writes.mark(1, InboxAction.DELETE, ids=[items[1].id])
    writes.add([make_item(recipient_id=2)])
    found = changes_of(1, 1)
    assert [item.id for item in found.items] == [items[0].id]
    assert found.items[0].read_at is not None
    assert found.removed == [items[1].id]
    assert (found.version, found.counts.unread) == (3, 1)
    both = reads.changes({1: 3, 2: 0})
    assert {recipient: len(each.items) for recipient, each in both.items()} == {1: 0, 2: 1}  # type: ignore[union-attr]  # neither is too old


def test_a_superseded_item_is_removed_for_clients(make_item: MakeItem) -> None:
    first, second = make_item(collapse_key="k"), make_item(collapse_key="k")
    writes.add([first])
    writes.add([second])
    found = changes_of(1, 1)
    assert [item.id for item in found.items] == [second.id]
    assert found.removed == [first.id]


def test_too_many_changes_and_an_unknown_version_are_too_old(make_item: MakeItem) -> None:
    writes.add([make_item() for _ in range(3)])
    assert reads.changes({1: 0}, limit=2) == {1: TOO_OLD}
    assert reads.changes({1: 2}) == {1: TOO_OLD}


def test_a_page_reads_no_more_rows_than_the_page_has(make_item: MakeItem) -> None:
    items = [make_item(recipient_id=1 + number % 3) for number in range(6_000)]
    for first in range(0, len(items), 1_000):
        writes.add(items[first : first + 1_000])
    writes.mark(1, InboxAction.SEEN)
    writes.mark(1, InboxAction.READ, ids=[item.id for item in items[::2]])
    with db.cursor() as running:
        running.execute("ANALYZE inbox_item")
        running.execute(
            "EXPLAIN (ANALYZE, FORMAT JSON) " + db.statement("inbox_page"),
            reads._parameters(1, InboxQuery(), None, 51),
        )
        (row,) = running.fetchall()
    assert sum(_rows_of_scans(row["QUERY PLAN"][0]["Plan"])) < 500
    behind = Cursor.of(reads.page(1, query=InboxQuery(), limit=600).items[-1])
    with db.cursor() as running:
        running.execute(
            "EXPLAIN (ANALYZE, FORMAT JSON) " + db.statement("inbox_page"),
            reads._parameters(1, InboxQuery(), behind, 51),
        )
        (row,) = running.fetchall()
    assert sum(_rows_of_scans(row["QUERY PLAN"][0]["Plan"])) < 500


def _rows_of_scans(plan: dict[str, Any]) -> list[float]:
    """The rows that each scan of the table or an index has read."""
    below = [rows for each in plan.get("Plans", ()) for rows in _rows_of_scans(each)]
    read = plan["Actual Rows"] + plan.get("Rows Removed by Filter", 0)
    return [*below, read * plan["Actual Loops"]] if "Scan" in plan["Node Type"] else below
