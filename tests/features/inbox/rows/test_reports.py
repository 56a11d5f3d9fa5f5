"""Reports: written by the mark, claimed for a lease, ended once."""

from __future__ import annotations

import datetime as dt
from concurrent.futures import ThreadPoolExecutor

import pytest
from django.db import connection

from notifications.core import clock
from notifications.core.store.postgres import db
from notifications.features.inbox.rows import reports, writes
from notifications.features.inbox.rows.reports import InboxReport
from notifications.features.inbox.rules.words import InboxAction
from tests.features.inbox.rows.conftest import MakeItem

pytestmark = pytest.mark.django_db


def test_a_report_follows_a_mark_and_is_claimed_once(make_item: MakeItem) -> None:
    item = make_item()
    writes.add([item])
    writes.mark(1, InboxAction.SEEN)
    assert reports.claim(limit=10, recipient_id=2) == []
    (report,) = reports.claim(limit=10)
    assert (report.item_id, report.notification_id) == (item.id, item.notification_id)
    assert report.seen_at is not None
    assert report.read_at is None
    assert reports.claim(limit=10) == []
    assert reports.end([report]) == 1


def test_an_unended_report_comes_again(
    make_item: MakeItem, monkeypatch: pytest.MonkeyPatch
) -> None:
    writes.add([make_item()])
    writes.mark(1, InboxAction.READ)
    assert len(reports.claim(limit=10)) == 1
    later = clock.now() + reports.LEASE + dt.timedelta(seconds=1)
    monkeypatch.setattr(clock, "now", lambda: later)
    assert len(reports.claim(limit=10, recipient_id=1)) == 1


def test_a_mark_after_the_claim_keeps_the_report(make_item: MakeItem) -> None:
    writes.add([make_item()])
    writes.mark(1, InboxAction.SEEN)
    claimed = reports.claim(limit=10)
    writes.mark(1, InboxAction.READ)
    assert reports.end(claimed) == 0
    (again,) = reports.claim(limit=10)
    assert again.read_at is not None


def test_superseded_items_are_read_with_their_group(make_item: MakeItem) -> None:
    likes = [make_item(collapse_key="likes") for _ in range(3)]
    writes.add(likes)
    writes.mark(1, InboxAction.READ)
    assert {report.item_id for report in reports.claim(limit=10)} == {like.id for like in likes}


@pytest.mark.django_db(transaction=True)
def test_a_mark_that_commits_during_a_claim_is_in_the_report(
    make_item: MakeItem, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The claim has its snapshot, and waits before the lock of the report."""
    writes.add([make_item()])
    writes.mark(1, InboxAction.SEEN)
    now = clock.now()
    monkeypatch.setattr(clock, "now", lambda: now)
    text, given = db.statement("inbox_reports_claim"), db.statement
    waiting = text.replace(
        "WHERE due_at", "WHERE (SELECT pg_advisory_lock(7)) IS NOT NULL AND due_at"
    )
    assert waiting != text
    with (
        monkeypatch.context() as patched,
        ThreadPoolExecutor() as pool,
        connection.cursor() as running,
    ):
        running.execute("SELECT pg_advisory_lock(7)")
        patched.setattr(
            db, "statement", lambda name: waiting if name == "inbox_reports_claim" else given(name)
        )
        claim = pool.submit(_claim_once)
        while True:
            running.execute(
                "SELECT count(*) FROM pg_locks WHERE locktype = 'advisory' AND NOT granted"
            )
            if running.fetchone() == (1,):
                break
        writes.mark(1, InboxAction.READ)
        running.execute("SELECT pg_advisory_unlock(7)")
        claimed = claim.result()
    again = claimed if reports.end(claimed) else reports.claim(limit=10)
    assert [report.read_at for report in again] == [now]


def _claim_once() -> list[InboxReport]:
    try:
        return reports.claim(limit=10)
    finally:
        connection.close()
