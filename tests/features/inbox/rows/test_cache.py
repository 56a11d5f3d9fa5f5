"""The cache: marks, leases, publishing, and a state Redis that is away."""

from __future__ import annotations

from pathlib import Path

import pytest

from notifications.core.models import InboxUncleared
from notifications.core.store.redis import state
from notifications.core.telemetry import instruments
from notifications.features.inbox import sweep
from notifications.features.inbox.rows import cache, reads, writes
from notifications.features.inbox.rows.items import InboxQuery
from notifications.features.inbox.rules.words import InboxAction
from notifyproj.devstack.servers import Stack
from tests.features.inbox.rows.conftest import MakeItem

pytestmark = pytest.mark.django_db(transaction=True)


def reads_that(result: str) -> float:
    return instruments.INBOX_READS.labels(result)._value.get()  # type: ignore[no-any-return]  # untyped


def test_the_second_read_is_a_hit_until_a_write(make_item: MakeItem) -> None:
    writes.add([make_item()])
    first = reads.page(1, query=InboxQuery())
    before = reads_that("hit")
    assert reads.page(1, query=InboxQuery()) == first
    assert reads.page(1, query=InboxQuery(), limit=1) == first
    assert reads.counts(1) == first.counts
    assert reads_that("hit") == before + 3
    writes.mark(1, InboxAction.READ)
    assert reads.page(1, query=InboxQuery()).counts.unread == 0


def test_an_action_without_an_item_keeps_the_entry(make_item: MakeItem) -> None:
    writes.add([make_item()])
    writes.mark(1, InboxAction.SEEN)
    reads.page(1, query=InboxQuery())
    before = reads_that("miss")
    assert writes.mark(1, InboxAction.SEEN).unread == 1
    reads.page(1, query=InboxQuery())
    assert reads_that("miss") == before


def test_no_reader_stores_an_entry_while_a_writer_works() -> None:
    assert cache.mark([1], "a")
    assert cache.mark([1], "b")
    assert cache.read(1, "page") == (None, None)
    cache.release([1], {}, token="a")
    assert cache.read(1, "page") == (None, None)
    cache.release([1], {}, token="b")
    lease = cache.read(1, "page").lease
    assert lease is not None
    assert cache.read(1, "counts").lease == lease
    cache.fill(1, lease, {"page": b"x"})
    assert cache.read(1, "page").value == b"x"


def test_a_reader_from_before_a_write_stores_nothing() -> None:
    lease = cache.read(1, "page").lease
    cache.mark([1], "a")
    cache.fill(1, lease, {"page": b"old"})
    cache.release([1], {}, token="a")
    cache.fill(1, lease, {"page": b"old"})
    assert cache.read(1, "page").value is None


def test_a_restart_brings_back_no_deleted_entry_and_no_lease(
    make_item: MakeItem, stack: Stack, tmp_path: Path
) -> None:
    """The server starts from a snapshot that is older than the last deletion."""
    writes.add([make_item()])
    reads.page(1, query=InboxQuery())
    lease = cache.read(2, "page").lease
    stack.state.save(tmp_path / "snapshot")
    writes.add([make_item(), make_item(recipient_id=2)])
    stack.state.restore(tmp_path / "snapshot")
    state.forget()
    assert reads.counts(1).version == 2
    assert reads.page(1, query=InboxQuery()).version == 2
    cache.fill(2, lease, {"page": b"old"})
    assert cache.read(2, "page").value is None


def test_the_mark_of_a_killed_writer_ends(monkeypatch: pytest.MonkeyPatch) -> None:
    with monkeypatch.context() as patched:
        patched.setattr(cache, "MARK_LASTS", cache.MARK_LASTS / 100_000)  # a millisecond
        cache.mark([1], "killed")
    while cache.read(1, "page").lease is None:
        pass
    cache.mark([1], "other")
    assert cache.read(1, "page") == (None, None)


def test_each_new_version_is_published_after_the_commit(make_item: MakeItem) -> None:
    listener = state.client().pubsub(ignore_subscribe_messages=True)  # type: ignore[no-untyped-call]  # untyped
    listener.subscribe(cache.channel(1))
    listener.get_message(timeout=30)
    item = make_item()
    writes.add([item, make_item(recipient_id=2)])
    writes.add([item])  # changes nothing
    writes.mark(1, InboxAction.READ)
    writes.erase(1)
    found = [listener.get_message(timeout=30) for _ in range(3)]
    assert [each and each["data"] for each in found] == [b"1", b"2", b"0"]
    listener.close()


def test_the_sweep_clears_entries_that_a_writer_could_not_clear(
    make_item: MakeItem, monkeypatch: pytest.MonkeyPatch
) -> None:
    writes.add([make_item()])
    assert reads.counts(1).total == 1
    with monkeypatch.context() as patched:
        patched.setattr(state._circuit, "rests_until", float("inf"))
        writes.add([make_item()])
        assert sweep.run_once(now=make_item().created_at, limit=10).moved == 0
    assert {row.recipient_id for row in InboxUncleared.objects.all()} == {1}
    sweep.run_once(now=make_item().created_at, limit=10)
    assert not InboxUncleared.objects.exists()
    assert reads.counts(1).total == 2


def test_a_refused_write_leaves_no_mark(make_item: MakeItem) -> None:
    with pytest.raises(Exception, match="value too long"):
        writes.add([make_item(category="c" * 65)])
    assert cache.read(1, "page").lease is not None
