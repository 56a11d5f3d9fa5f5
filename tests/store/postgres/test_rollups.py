"""Roll-ups count each event once, in the bucket of its time."""

from __future__ import annotations

import datetime as dt
import threading
from concurrent.futures import ThreadPoolExecutor

import pytest
from django.db import connection, transaction

from notifications.core import clock
from notifications.core.models import (
    Notification,
    Rollup,
    RollupLatency,
    RollupPosition,
    RollupSeries,
    RollupValue,
)
from notifications.core.rules import ids
from notifications.core.rules.lane import Mode
from notifications.core.rules.rollups import CUBES, OTHER, Cube, DimensionSet, Step
from notifications.core.rules.transitions import DELIVER, EXPIRE
from notifications.core.store.postgres import rollups, transitions
from notifications.core.store.postgres.transitions import ANYONE, Move
from tests.old_days import recount_days
from tests.store.stored_rows import MakeDelivery, make_delivery

__all__ = ["make_delivery"]

pytestmark = pytest.mark.django_db(transaction=True)
_ALL_DAYS = Cube(Step.DAY, DimensionSet.ALL).number


@pytest.fixture(autouse=True)
def _position(db: None) -> None:  # noqa: ARG001 - pytest-django asks for it by name
    """Begin to count, as the migration does."""
    rollups.count_next(limit=1)


def _count(column: str, *, cube: int = _ALL_DAYS) -> int:
    found = Rollup.objects.filter(cube=cube).values_list(column, flat=True)
    return sum(each or 0 for each in found)


def test_each_event_counts_once_in_each_cube(make_delivery: MakeDelivery) -> None:
    transitions.apply(EXPIRE, [Move(id=make_delivery(), reason="ttl_passed")], ANYONE)
    transitions.apply(DELIVER, [Move(id=make_delivery())], ANYONE)
    assert rollups.count_next(limit=100).events == 4
    assert rollups.count_next(limit=100).events == 0
    for each in CUBES:
        names = ("accepted", "sent", "delivered", "expired")
        assert [_count(name, cube=each.number) for name in names] == [2, 1, 1, 1]


def test_a_page_that_was_not_committed_counts_nothing(make_delivery: MakeDelivery) -> None:
    make_delivery()

    @transaction.atomic
    def count_and_die() -> None:
        rollups.count_next(limit=100)
        raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        count_and_die()
    assert _count("accepted") == 0
    assert rollups.count_next(limit=100).events == 1
    assert _count("accepted") == 1


def _count_beside() -> int:
    """Count on a connection of its own."""
    try:
        return rollups.count_next(limit=100).events
    finally:
        connection.close()


def test_a_second_process_leaves_the_events_to_the_first(make_delivery: MakeDelivery) -> None:
    make_delivery()

    with ThreadPoolExecutor(1) as other, transaction.atomic():
        RollupPosition.objects.select_for_update().get()
        assert other.submit(_count_beside).result() == 0
    assert rollups.count_next(limit=100).events == 1


def test_a_transaction_that_commits_late_is_not_passed_over(make_delivery: MakeDelivery) -> None:
    late, early = make_delivery(), make_delivery()
    rollups.count_next(limit=100)
    moved, go_on = threading.Event(), threading.Event()

    def commit_late() -> None:
        with transaction.atomic():
            transitions.apply(EXPIRE, [Move(id=late, reason="ttl_passed")], ANYONE)
            moved.set()
            go_on.wait(30)
        connection.close()

    with ThreadPoolExecutor(1) as other:
        ending = other.submit(commit_late)
        assert moved.wait(30)
        transitions.apply(EXPIRE, [Move(id=early, reason="ttl_passed")], ANYONE)
        rollups.count_next(limit=100)
        assert _count("expired") == 0
        go_on.set()
        ending.result()
    rollups.count_next(limit=100)
    assert _count("expired") == 2


def test_a_page_shorter_than_a_transaction_grows(make_delivery: MakeDelivery) -> None:
    moves = [Move(id=make_delivery(), reason="ttl_passed") for _ in range(3)]
    transitions.apply(EXPIRE, moves, ANYONE)
    while rollups.count_next(limit=1).more:
        pass
    assert (_count("accepted"), _count("expired")) == (3, 3)


def test_an_interval_is_counted_again_exactly(make_delivery: MakeDelivery) -> None:
    transitions.apply(DELIVER, [Move(id=make_delivery())], ANYONE)
    rollups.count_next(limit=100)
    make_delivery()  # behind the position: the next page counts it
    before = (_rows(Rollup), _rows(RollupLatency))
    Rollup.objects.update(delivered=7)
    recount_days()
    assert (_rows(Rollup), _rows(RollupLatency)) == before
    rollups.count_next(limit=100)
    assert _count("accepted") == 2


def _rows(model: type[Rollup | RollupLatency]) -> list[tuple[object, ...]]:
    return sorted(model.objects.values_list(), key=str)


def _limit(monkeypatch: pytest.MonkeyPatch, **limits: int) -> None:
    for name, value in limits.items():
        monkeypatch.setitem(rollups._PAGE, name, value)


def test_values_beyond_the_limit_of_a_day_share_a_name(
    make_delivery: MakeDelivery, monkeypatch: pytest.MonkeyPatch
) -> None:
    _limit(monkeypatch, most_values=2, own_values=0)
    for place in range(4):
        delivery_id = make_delivery()
        Notification.objects.filter(id=ids.notification_of(delivery_id)).update(type=f"T{place}")
        rollups.count_next(limit=100)
    found = Rollup.objects.filter(cube=_ALL_DAYS).values_list("series__type", "accepted")
    assert sorted(found) == [("T0", 1), ("T1", 1), (OTHER, 2)]
    assert RollupValue.objects.filter(dimension="type").count() == 2


def _accept(make_delivery: MakeDelivery, producer_id: int, *types: str) -> None:
    for name in types:
        rows = Notification.objects.filter(id=ids.notification_of(make_delivery()))
        rows.update(type=name, producer_id=producer_id)


def _accepted_by_type() -> list[tuple[int, str, int | None]]:
    found = Rollup.objects.filter(cube=_ALL_DAYS)
    return sorted(found.values_list("series__producer_id", "series__type", "accepted"))


def test_a_producer_with_many_types_takes_no_place_from_others(
    make_delivery: MakeDelivery, monkeypatch: pytest.MonkeyPatch
) -> None:
    _limit(monkeypatch, most_values=3, own_values=2, most_with_own=6)
    _accept(make_delivery, 1, "A1", "A2", "A3", "A4")
    rollups.count_next(limit=100)
    _accept(make_delivery, 2, "A1", "A4", "B1", "B2")
    _accept(make_delivery, 1, "A4", "A5")
    rollups.count_next(limit=100)
    assert _accepted_by_type() == [
        *[(1, "A1", 1), (1, "A2", 1), (1, "A3", 1), (1, "A4", 1), (1, OTHER, 2)],
        *[(2, "A1", 1), (2, "A4", 1), (2, "B1", 1), (2, OTHER, 1)],
    ]
    _accept(make_delivery, 3, "C1", "C2")
    rollups.count_next(limit=100)
    assert _accepted_by_type()[-2:] == [(3, "C1", 1), (3, OTHER, 1)], "the day is full"
    assert RollupValue.objects.filter(dimension="type").count() == 6
    owners = RollupValue.objects.filter(dimension="type").order_by("value")
    assert list(owners.values_list("value", "producer_id")) == [
        *[("A1", 1), ("A2", 1), ("A3", 1), ("A4", 2), ("B1", 2), ("C1", 3)]
    ]


def test_types_of_test_mode_take_no_place_from_live_types(
    make_delivery: MakeDelivery, monkeypatch: pytest.MonkeyPatch
) -> None:
    _limit(monkeypatch, most_values=2, own_values=0)
    for mode, names in ((Mode.TEST, ("A", "B", "C", "D")), (Mode.LIVE, ("D", "E"))):
        for name in names:
            rows = Notification.objects.filter(id=ids.notification_of(make_delivery()))
            rows.update(type=name, mode=mode)
        rollups.count_next(limit=100)
    found = Rollup.objects.filter(cube=_ALL_DAYS, series__mode=Mode.LIVE)
    assert sorted(found.values_list("series__type", "accepted")) == [("D", 1), ("E", 1)]
    tested = Rollup.objects.filter(cube=_ALL_DAYS, series__mode=Mode.TEST)
    assert sorted(tested.values_list("series__type", "accepted")) == [
        ("A", 1),
        ("B", 1),
        (OTHER, 2),
    ]


def test_rows_are_deleted_after_their_retention(make_delivery: MakeDelivery) -> None:
    make_delivery()
    rollups.count_next(limit=100)
    cubes = set(Rollup.objects.values_list("cube", flat=True))
    assert cubes == {each.number for each in CUBES}
    rollups.forget(now=clock.now() + dt.timedelta(days=4), limit=100)
    left = set(Rollup.objects.values_list("cube", flat=True))
    assert left == {each.number for each in CUBES if each.step is not Step.MINUTE}
    rollups.forget(now=clock.now() + dt.timedelta(days=800), limit=100)
    assert not Rollup.objects.exists()
    assert not RollupValue.objects.exists()


def _orphan_all_series() -> None:
    rollups.count_next(limit=100)
    rollups.forget(now=clock.now() + dt.timedelta(days=800), limit=100)
    assert not Rollup.objects.exists()
    assert RollupSeries.objects.count() == len(DimensionSet)


def _series_of_rows() -> set[int]:
    rows = (Rollup.objects.all(), RollupLatency.objects.all())
    return {each for found in rows for each in found.values_list("series", flat=True)}


def test_series_without_rows_are_deleted(make_delivery: MakeDelivery) -> None:
    make_delivery()
    _orphan_all_series()
    transitions.apply(DELIVER, [Move(id=make_delivery())], ANYONE)
    rows = Notification.objects.filter(id=ids.notification_of(make_delivery()))
    rows.update(type="OTHER_TYPE")
    rollups.count_next(limit=100)
    Rollup.objects.filter(series__type="TEST").delete()
    counts, every = _rows(Rollup), RollupSeries.objects.count()
    assert sum(rollups.forget_series(limit=1) for _ in range(every + 1)) == 0, "sketches keep them"
    RollupLatency.objects.filter(series__type="TEST").delete()
    assert sum(rollups.forget_series(limit=1) for _ in range(every + 1)) == 2
    assert _rows(Rollup) == counts
    assert set(RollupSeries.objects.values_list("id", flat=True)) == _series_of_rows()
    assert rollups.forget_series(limit=100) == 0
    Rollup.objects.all().delete()
    assert rollups.forget_series(limit=100) > 0, "the walk begins again after the last series"
    assert set(RollupSeries.objects.values_list("id", flat=True)) == _series_of_rows()


def test_a_series_with_an_uncommitted_count_is_kept(make_delivery: MakeDelivery) -> None:
    make_delivery()
    _orphan_all_series()
    make_delivery()
    counted, go_on = threading.Event(), threading.Event()

    def count_slowly() -> None:
        with transaction.atomic():
            rollups.count_next(limit=100)
            counted.set()
            go_on.wait(30)
        connection.close()

    with ThreadPoolExecutor(1) as other:
        counting = other.submit(count_slowly)
        try:
            assert counted.wait(30)
            assert rollups.forget_series(limit=100) == 0
        finally:
            go_on.set()
        counting.result()
    assert _series_of_rows() == set(RollupSeries.objects.values_list("id", flat=True))
    assert _count("accepted") == 1
    assert rollups.forget_series(limit=100) == 0


def test_a_count_beside_the_deletion_of_series_waits_and_loses_nothing(
    make_delivery: MakeDelivery,
) -> None:
    make_delivery()
    _orphan_all_series()
    make_delivery()

    with ThreadPoolExecutor(1) as other, transaction.atomic():
        assert rollups.forget_series(limit=100) == len(DimensionSet)
        assert other.submit(_count_beside).result() == 0
    assert rollups.count_next(limit=100).events == 1
    assert _series_of_rows() == set(RollupSeries.objects.values_list("id", flat=True))
    assert _count("accepted") == 1


def test_a_position_of_another_cluster_begins_again(make_delivery: MakeDelivery) -> None:
    make_delivery()
    RollupPosition.objects.update(cluster=1)
    assert rollups.count_next(limit=100).events == 0
    make_delivery()
    assert rollups.count_next(limit=100).events == 1


def test_the_lag_is_the_age_of_the_first_uncounted_event(make_delivery: MakeDelivery) -> None:
    now = clock.now()
    assert rollups.lag(now=now) == dt.timedelta(0)
    make_delivery()
    assert rollups.lag(now=now + dt.timedelta(minutes=5)) >= dt.timedelta(minutes=4)
    rollups.count_next(limit=100)
    assert rollups.lag(now=now + dt.timedelta(minutes=5)) == dt.timedelta(0)


def test_a_series_without_all_dimensions_leaves_the_others_empty(
    make_delivery: MakeDelivery,
) -> None:
    make_delivery()
    rollups.count_next(limit=100)
    found = RollupSeries.objects.order_by("dimension_set")
    rows = found.values_list("producer_id", "type", "priority")
    assert list(rows) == [(1, "", 2), (1, "TEST", -1), (1, "TEST", 2), (0, "", 2), (1, "", -1)]
