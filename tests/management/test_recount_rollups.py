"""Roll-ups are counted again by a command."""

from __future__ import annotations

import datetime as dt
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from io import StringIO

import pytest
from django.core.management import CommandError, call_command
from django.db import OperationalError, connection, transaction

from notifications.core import clock, conf
from notifications.core.models import ArchiveDay, ArchiveState, Event, Rollup, RollupPosition
from notifications.core.rules import ids
from notifications.core.store.postgres import db, partitions, rollups
from tests.old_days import drop_day
from tests.past_rows import fill, id_of
from tests.store.stored_rows import MakeDelivery, make_delivery

__all__ = ["make_delivery"]

pytestmark = pytest.mark.django_db(transaction=True)


def _recount(*options: str) -> str:
    out = StringIO()
    call_command("recount_rollups", *options, stdout=out)
    return out.getvalue()


def _day(back: int) -> str:
    return (clock.now().date() - dt.timedelta(days=back)).isoformat()


def test_lost_counts_come_back(make_delivery: MakeDelivery) -> None:
    rollups.count_next(limit=1)
    make_delivery()
    rollups.count_next(limit=100)
    before = sorted(Rollup.objects.values_list(), key=str)
    Rollup.objects.all().delete()
    day = Event.objects.get().at.date()
    assert f"{day}: 1 events counted" in _recount("--from", day.isoformat())
    assert sorted(Rollup.objects.values_list(), key=str) == before


@pytest.mark.parametrize(
    ("options", "problem"),
    [
        (["--from", "2001-01-01"], "the oldest day with rows is"),
        (["--from", 0, "--to", 1], "at or before"),
        (["--from", 0, "--to", -2], "at or before"),
    ],
)
def test_days_that_cannot_be_counted_are_refused(options: list[str | int], problem: str) -> None:
    with pytest.raises(CommandError, match=problem):
        _recount(*(_day(each) if isinstance(each, int) else each for each in options))


def test_before_the_first_run_of_the_sweep_the_command_refuses() -> None:
    RollupPosition.objects.all().delete()
    with pytest.raises(CommandError, match="has not run yet"):
        _recount("--from", clock.now().date().isoformat())


def test_a_second_recount_waits_for_the_first(make_delivery: MakeDelivery) -> None:
    rollups.count_next(limit=1)
    make_delivery()
    rollups.count_next(limit=100)
    before = sorted(Rollup.objects.values_list(), key=str)
    day = Event.objects.get().at.date()

    def recount_beside() -> int:
        try:
            with connection.cursor() as running:
                running.execute("SET lock_timeout = '10ms'")
            return rollups.recount(day)
        finally:
            connection.close()

    with ThreadPoolExecutor(1) as other:
        with transaction.atomic(), connection.cursor() as running:
            rollups.recount(day)
            second = other.submit(recount_beside)
            waits = "SELECT count(*) FROM pg_locks WHERE NOT granted"
            while not second.done() and running.execute(waits).fetchone() == (0,):
                pass
            running.execute("SELECT pg_sleep(0.1)")
        assert second.result() == 1
    assert sorted(Rollup.objects.values_list(), key=str) == before


@pytest.fixture
def late_reads() -> Iterator[tuple[dt.date, dt.date]]:
    """A day past retention, and a later day that has events of the first day's notifications."""
    accepted = clock.now().date() - conf.current().retention - dt.timedelta(days=2)
    receipts = accepted + dt.timedelta(days=5)
    rollups.count_next(limit=1)
    fill(accepted, notifications=3, people=3)
    partitions.ensure(receipts, days=0)
    with connection.cursor() as running:
        for number in (1, 2, 3):
            running.execute(
                "INSERT INTO event (notification_id, delivery_id, status, reason, detail, at)"
                " VALUES (%s, %s, 8, '', '', %s)",
                [
                    id_of(accepted, number),
                    ids.delivery_id(id_of(accepted, number), 1),
                    dt.datetime.combine(receipts, dt.time(), dt.UTC),
                ],
            )
    rollups.count_next(limit=1_000)
    assert sum(each or 0 for each in Rollup.objects.values_list("read", flat=True))
    yield accepted, receipts
    for day in (accepted, receipts):
        drop_day(day)


def _drop(day: dt.date) -> None:
    """Drop a day without an archive, as the sweep does until the row gets its time."""
    ArchiveDay.objects.create(day=day, state=ArchiveState.NOT_ARCHIVED)
    assert partitions.freeze(day)
    assert partitions.drop_frozen(day) == {}


def _check_refused(day: dt.date) -> None:
    """Check that a recount of a day is refused and changes no count."""
    before = sorted(Rollup.objects.values_list(), key=str)
    with pytest.raises(CommandError, match="dropped"):
        _recount("--from", day.isoformat(), "--to", day.isoformat())
    assert sorted(Rollup.objects.values_list(), key=str) == before


def test_a_day_with_events_of_dropped_notifications_keeps_its_counts(
    late_reads: tuple[dt.date, dt.date],
) -> None:
    accepted, receipts = late_reads
    _drop(accepted)
    _check_refused(receipts)


def test_a_day_that_is_dropped_after_the_check_keeps_its_counts(
    late_reads: tuple[dt.date, dt.date], monkeypatch: pytest.MonkeyPatch
) -> None:
    accepted, receipts = late_reads
    recount = rollups.recount

    def after_a_drop(day: dt.date) -> int:
        _drop(accepted)
        return recount(day)

    monkeypatch.setattr(rollups, "recount", after_a_drop)
    _check_refused(receipts)


def test_no_day_is_dropped_during_a_count(
    late_reads: tuple[dt.date, dt.date], monkeypatch: pytest.MonkeyPatch
) -> None:
    accepted, receipts = late_reads
    before = sorted(Rollup.objects.values_list(), key=str)
    run = db.run

    def freeze_beside() -> bool:
        try:
            return partitions.freeze(accepted)
        finally:
            connection.close()

    def after_a_freeze(name: str, parameters: dict[str, object]) -> int:
        if name == "rollup_clear":
            with ThreadPoolExecutor(1) as other, pytest.raises(OperationalError):
                other.submit(freeze_beside).result()
        return run(name, parameters)

    monkeypatch.setattr(db, "run", after_a_freeze)
    _recount("--from", receipts.isoformat(), "--to", receipts.isoformat())
    assert sorted(Rollup.objects.values_list(), key=str) == before
