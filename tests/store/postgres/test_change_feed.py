"""The change feed has each committed change once, whatever the order of the commits."""

from __future__ import annotations

import datetime as dt
from contextlib import closing
from dataclasses import replace
from uuid import UUID

import psycopg
import pytest
from django.db import OperationalError, connection

from notifications.core import clock
from notifications.core.models import ChangeMark, Event, Notification
from notifications.core.rules import ids
from notifications.core.rules.feed_position import FeedPosition
from notifications.core.rules.lane import Mode
from notifications.core.rules.states import Status
from notifications.core.rules.transitions import DELIVER, EXPIRE
from notifications.core.store.postgres import arrays, change_feed, db, id_ranges, transitions
from notifications.core.store.postgres.change_feed import Change, ForeignPositionError
from notifications.core.store.postgres.transitions import ANYONE, Move
from tests.standbys import standby_gone
from tests.store.stored_rows import MakeDelivery

pytestmark = pytest.mark.django_db(transaction=True)
_MINUTE = dt.timedelta(minutes=1)


def _page(
    position: FeedPosition | None = None,
    *,
    producer_id: int = 1,
    mode: Mode = Mode.LIVE,
    limit: int = 100,
    since: dt.datetime | None = None,
) -> tuple[list[Change], FeedPosition]:
    return change_feed.page(position, producer_id=producer_id, mode=mode, limit=limit, since=since)


def _reasons(changes: list[Change]) -> list[str]:
    return [change.reason for change in changes]


def _session() -> closing[psycopg.Connection]:
    return closing(psycopg.connect(**connection.get_connection_params()))


def _log(session: psycopg.Connection, delivery_id: UUID, reason: str) -> None:
    session.execute(
        "INSERT INTO event (notification_id, delivery_id, status, reason, at)"
        " VALUES (%s, %s, %s, %s, now())",
        [ids.notification_of(delivery_id), delivery_id, int(Status.SENT), reason],
    )


@pytest.fixture
def start(make_delivery: MakeDelivery) -> tuple[UUID, FeedPosition]:
    """A delivery, and the position after its first change."""
    delivery_id = make_delivery()
    changes, position = _page()
    assert _reasons(changes) == ["accepted"]
    return delivery_id, position


def test_a_transaction_that_commits_last_is_not_skipped(start: tuple[UUID, FeedPosition]) -> None:
    delivery_id, position = start
    with _session() as first, _session() as second:
        _log(first, delivery_id, "first")
        _log(second, delivery_id, "second")
        second.commit()
        withheld, position = _page(position)
        first.commit()
    assert withheld == []
    changes, position = _page(position)
    assert _reasons(changes) == ["first", "second"]
    assert _page(position) == ([], position)


def test_a_change_that_was_rolled_back_never_appears(start: tuple[UUID, FeedPosition]) -> None:
    delivery_id, position = start
    with _session() as first, _session() as second:
        _log(first, delivery_id, "first")
        _log(second, delivery_id, "second")
        second.commit()
        first.rollback()
    assert _reasons(_page(position)[0]) == ["second"]


def test_pages_follow_each_other_within_a_transaction(make_delivery: MakeDelivery) -> None:
    delivery_ids = [make_delivery() for _ in range(5)]
    # Ids of one millisecond have no order, and a transition moves the rows in the order of ids.
    moved = sorted(delivery_ids)
    transitions.apply(EXPIRE, [Move(id=each, reason="late") for each in delivery_ids], ANYONE)
    pages, position = [], None
    for _ in range(4):
        changes, position = _page(position, limit=3)
        pages.append(changes)
    assert [len(each) for each in pages] == [3, 3, 3, 1]
    read = [change for changes in pages for change in changes]
    assert [(each.delivery_id, each.status) for each in read] == [
        *((each, Status.QUEUED) for each in delivery_ids),
        *((each, Status.EXPIRED) for each in moved),
    ]
    assert _page(position) == ([], position)


def test_events_without_a_status_and_of_earlier_releases_are_no_changes(
    start: tuple[UUID, FeedPosition],
) -> None:
    delivery_id, position = start
    with _session() as session:
        _log(session, delivery_id, "no status")
        _log(session, delivery_id, "earlier release")
        session.execute("UPDATE event SET status = NULL WHERE reason = 'no status'")
        session.execute("UPDATE event SET xid = NULL WHERE reason = 'earlier release'")
        session.commit()
    assert _page(position)[0] == []


def test_changes_of_other_producers_advance_the_position(
    start: tuple[UUID, FeedPosition], monkeypatch: pytest.MonkeyPatch
) -> None:
    delivery_id, position = start
    Notification.objects.create(**{
        **Notification.objects.values().get(),
        "id": (other := clock.new_notification_id()),
        "producer_id": 2,
    })
    monkeypatch.setattr(change_feed, "SCANNED", 2)
    with _session() as session:
        for _ in range(3):
            _log(session, ids.delivery_id(other, 1), "theirs")
        _log(session, delivery_id, "ours")
        session.commit()
    first, middle = _page(position)
    second, end = _page(middle)
    assert (_reasons(first), _reasons(second)) == ([], ["ours"])
    assert position != middle
    assert _page(end) == ([], end)
    assert _reasons(_page(position, producer_id=2)[0]) == ["theirs", "theirs"]
    assert _page(position, mode=Mode.TEST)[0] == []


def test_since_begins_at_the_instant(make_delivery: MakeDelivery) -> None:
    delivery_id = make_delivery()
    change_feed.mark()
    transitions.apply(DELIVER, [Move(id=delivery_id, reason="before")], ANYONE)
    Event.objects.filter(reason="before").update(at=clock.now() + _MINUTE)
    transitions.apply(EXPIRE, [Move(id=make_delivery(), reason="after")], ANYONE)
    Event.objects.filter(reason="after").update(at=clock.now() + 3 * _MINUTE)
    assert _reasons(_page(since=clock.now() + 2 * _MINUTE)[0]) == ["after"]
    first, position = _page(since=clock.now() + 2 * _MINUTE, limit=1)
    assert _reasons(first) == ["after"]
    assert _page(position)[0] == []
    assert position.since is not None
    everything, _ = _page(since=clock.now() - _MINUTE)
    assert sorted(_reasons(everything)) == ["accepted", "accepted", "after", "before"]


def test_a_mark_lets_since_read_no_older_change(start: tuple[UUID, FeedPosition]) -> None:
    delivery_id, _ = start
    change_feed.mark()
    mark = ChangeMark.objects.get()
    with _session() as session:
        _log(session, delivery_id, "new")
        session.commit()
    Event.objects.filter(reason="accepted").update(at=mark.at + _MINUTE)  # a clock that was ahead
    assert _reasons(_page(since=mark.at)[0]) == ["new"]
    assert change_feed.forget_marks(before=mark.at, limit=10) == 0
    assert change_feed.forget_marks(before=mark.at + _MINUTE, limit=10) == 1


def test_marks_tell_since_when_one_transaction_is_open(
    start: tuple[UUID, FeedPosition],
) -> None:
    delivery_id, _ = start
    assert change_feed.oldest_hold() is None
    with _session() as session:
        _log(session, delivery_id, "open")
        change_feed.mark()
        first = ChangeMark.objects.get().at
        change_feed.mark()
        assert ChangeMark.objects.count() == 2
        assert change_feed.oldest_hold() == first
        session.commit()
    change_feed.mark()
    since = change_feed.oldest_hold()
    assert since is not None
    assert since > first


def test_a_position_of_another_cluster_or_of_a_lost_transaction_is_refused(
    start: tuple[UUID, FeedPosition],
) -> None:
    _, position = start
    for foreign in (
        replace(position, cluster=position.cluster ^ 1),
        replace(position, xid=change_feed.bounds().next + 1_000),
    ):
        with pytest.raises(ForeignPositionError):
            _page(foreign)


def test_a_former_primary_without_its_standbys_refuses_no_position(
    start: tuple[UUID, FeedPosition],
) -> None:
    ahead = replace(start[1], xid=change_feed.bounds().next + 1_000)
    with standby_gone(), pytest.raises(OperationalError, match="standby"):
        _page(ahead)
    with pytest.raises(ForeignPositionError):
        _page(ahead)


def test_restored_events_of_another_cluster_leave_the_feed(
    start: tuple[UUID, FeedPosition],
) -> None:
    delivery_id, position = start
    with _session() as session:
        _log(session, delivery_id, "foreign")
        ahead = change_feed.bounds().next + 10**9
        session.execute("UPDATE event SET xid = %s WHERE reason = 'foreign'", [ahead])
        session.commit()
    ChangeMark.objects.create(at=clock.now(), xid=ahead)
    assert change_feed.forget_foreign(limit=10) == 1
    assert change_feed.forget_foreign(limit=10) == 0
    assert list(Event.objects.filter(xid=None).values_list("reason", flat=True)) == ["foreign"]
    assert change_feed.forget_marks(before=clock.now() - _MINUTE, limit=10) == 1
    assert _page(position) == ([], position)


def test_a_page_reads_the_index_and_no_partition_as_a_whole(
    start: tuple[UUID, FeedPosition],
) -> None:
    delivery_id, position = start
    with _session() as session:
        session.execute(
            "INSERT INTO event (notification_id, delivery_id, status, at)"
            " SELECT %s, %s, 5, now() FROM generate_series(1, 40000)",
            [ids.notification_of(delivery_id), delivery_id],
        )
        session.commit()
        session.execute("ANALYZE event")
        session.commit()
    read = {"xid": position.xid, "seq": position.seq, "scanned": change_feed.SCANNED}
    end = {"end_xid": position.xid + 1, "end_seq": 0, "since": None, "producer": 1, "mode": 1}
    span = id_ranges.last_days(1)
    for name, verb, parameters in (
        ("feed_end", "", {**read, "below": position.xid + 100}),
        ("feed_page", "", {**read, **end, "limit": 10}),
        ("rollup_lag", "", {}),
        ("work_rollups", "SELECT ", {}),
        ("work_webhooks", "SELECT ", span),
    ):
        with db.cursor() as running:
            running.execute(f"EXPLAIN {verb}{db.statement(name)}", arrays.bound(parameters))
            plan = "\n".join(row["QUERY PLAN"] for row in running.fetchall())
        assert f"Seq Scan on event_{clock.now():%Y%m%d} " not in plan, plan
        assert "Join Filter" not in plan, plan


def test_a_page_is_returned_when_a_standby_has_its_changes(
    start: tuple[UUID, FeedPosition],
) -> None:
    delivery_id, position = start
    with _session() as session:
        session.execute("SET synchronous_commit = off")  # as a claim: the commit does not wait
        _log(session, delivery_id, "claimed")
        session.commit()
    with standby_gone(), pytest.raises(OperationalError, match="standby"):
        _page(position)
    assert _reasons(_page(position)[0]) == ["claimed"]


def test_a_page_without_a_further_change_waits_for_no_standby(
    start: tuple[UUID, FeedPosition],
) -> None:
    with standby_gone():
        assert _page(start[1]) == ([], start[1])
