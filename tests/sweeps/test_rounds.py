"""What fails in a sweep stops neither the other rows nor the other sweeps, and is told."""

from __future__ import annotations

import datetime as dt
from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from threading import Barrier
from typing import Any

import psycopg
import pytest
from django.db import OperationalError, connection

from notifications.core import clock, sweeps
from notifications.core.delivery import rescue
from notifications.core.models import Alert, Delivery, Event, Notification, SweepRun
from notifications.core.rules import ids
from notifications.core.rules.alerts import AlertKind
from notifications.core.rules.lane import Priority
from notifications.core.rules.states import Status
from notifications.core.store.postgres import id_ranges, secret_variables, sweep_runs
from notifications.core.store.postgres.sweep_runs import SweepStart
from notifications.core.sweeps import SWEEPS, rounds
from notifications.core.sweeps.rounds import Due, Swept
from tests.sweeps.conftest import MakeRow, store_row

_HOUR = dt.timedelta(hours=1)


def _fail(**_arguments: object) -> Swept:
    msg = "no row may do this"
    raise KeyError(msg)


@pytest.fixture
def failing(monkeypatch: pytest.MonkeyPatch) -> str:
    """A sweep that raises at every run."""
    sweep = sweeps.Sweep("rescue", dt.timedelta(0), 1, _fail, "")
    monkeypatch.setitem(SWEEPS, "rescue", sweep)
    return "rescue"


@pytest.mark.django_db
def test_a_sweep_that_raises_stops_no_other_and_raises_an_alert_until_it_works(
    failing: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    for name in SWEEPS:
        sweeps.run(name)
    assert set(SweepRun.objects.exclude(finished_at=None).values_list("name", flat=True)) == set(
        SWEEPS
    )
    assert SweepRun.objects.get(name=failing).failed == 1
    assert _alerts() == [failing]
    works = sweeps.Sweep(failing, dt.timedelta(0), 1, lambda **_arguments: Swept(), "")
    monkeypatch.setitem(SWEEPS, failing, works)
    sweeps.run(failing, every=dt.timedelta(0))
    assert _alerts() == []


@pytest.mark.django_db
def test_a_process_killed_after_the_end_of_a_success_leaves_no_alert(
    failing: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    end = sweep_runs.end

    def die(name: str, *, moved: int, failed: int) -> None:
        end(name, moved=moved, failed=failed)
        raise KeyboardInterrupt

    sweeps.run(failing, every=dt.timedelta(0))
    works = sweeps.Sweep(failing, dt.timedelta(0), 1, lambda **_arguments: Swept(), "")
    monkeypatch.setitem(SWEEPS, failing, works)
    with monkeypatch.context() as patch:
        patch.setattr(sweep_runs, "end", die)
        with pytest.raises(KeyboardInterrupt):
            sweeps.run(failing, every=dt.timedelta(0))
    sweeps.run(failing, every=dt.timedelta(0))
    assert _alerts() == []


def _alerts() -> list[str]:
    found = Alert.objects.filter(kind=AlertKind.SWEEP_FAILED, resolved_at=None)
    return list(found.values_list("subject", flat=True))


def test_one_row_that_raises_leaves_its_neighbours_moving(
    make_row: MakeRow, monkeypatch: pytest.MonkeyPatch
) -> None:
    rows = [make_row(Status.SENDING) for _ in range(7)]
    bad = rows[2]
    settle = rescue.rescue

    def rescued(batch: Sequence[dict[str, Any]]) -> int:
        if bad in {row["id"] for row in batch}:
            msg = "the preset of this row was removed by a deploy"
            raise KeyError(msg)
        return settle(batch)

    monkeypatch.setattr(rescue, "rescue", rescued)
    assert SWEEPS["rescue"].run_once(now=clock.now(), limit=500) == Swept(moved=6, failed=1)
    assert list(Delivery.objects.filter(status=Status.SENDING).values_list("id", flat=True)) == [
        bad
    ]


def test_a_full_batch_of_rows_that_raise_leaves_room_for_the_rows_behind(
    make_row: MakeRow, monkeypatch: pytest.MonkeyPatch
) -> None:
    bad = {make_row(Status.SENDING, due_at=clock.now() - 2 * _HOUR) for _ in range(3)}
    good = make_row(Status.SENDING)
    settle = rescue.rescue

    def rescued(batch: Sequence[dict[str, Any]]) -> int:
        if not bad.isdisjoint(row["id"] for row in batch):
            msg = "these rows"
            raise KeyError(msg)
        return settle(batch)

    monkeypatch.setattr(rescue, "rescue", rescued)
    runs = [SWEEPS["rescue"].run_once(now=clock.now(), limit=3) for _ in range(2)]
    assert runs == [Swept(failed=3), Swept(moved=1)]
    assert Delivery.objects.get(id=good).status == Status.QUEUED
    assert Delivery.objects.filter(id__in=bad, due_at__gt=clock.now()).count() == 3


@pytest.mark.django_db(transaction=True)
def test_rows_that_another_transaction_has_locked_are_left_and_the_others_move() -> None:
    rows = [store_row(Status.RETRYING) for _ in range(5)]
    with psycopg.connect(**_link(), autocommit=False) as frozen:
        frozen.execute("SELECT id FROM delivery WHERE id = ANY(%s) FOR UPDATE", [rows[:2]])
        assert SWEEPS["retry"].run_once(now=clock.now(), limit=2) == Swept(moved=3)
    assert SWEEPS["retry"].run_once(now=clock.now(), limit=2) == Swept(moved=2)
    assert set(Delivery.objects.values_list("status", flat=True)) == {Status.QUEUED}


@pytest.mark.django_db(transaction=True)
def test_two_processes_share_a_lane_and_do_each_row_once() -> None:
    rows = {store_row(Status.RETRYING) for _ in range(60)}
    start = Barrier(2)

    def sweep() -> int:
        try:
            start.wait(timeout=20)
            return SWEEPS["retry"].run_once(now=clock.now(), limit=7).moved
        finally:
            connection.close()

    with ThreadPoolExecutor(2) as pool:
        both = [pool.submit(sweep) for _ in range(2)]
        assert sum(each.result(timeout=30) for each in both) == len(rows)
    assert Event.objects.filter(reason="retry_due").count() == len(rows)


@pytest.mark.django_db(transaction=True)
def test_a_wipe_does_not_wait_for_a_cancel_that_waits_for_its_deliveries() -> None:
    delivery_id = store_row(Status.SENT, due_at=None)
    notification_id = ids.notification_of(delivery_id)
    Notification.objects.update(secrets=b"sealed")
    with psycopg.connect(**_link(), autocommit=False) as cancel:
        cancel.execute("SELECT id FROM notification WHERE id = %s FOR UPDATE", [notification_id])
        assert secret_variables.wipe([notification_id]) == 0
    assert secret_variables.wipe([notification_id]) == 1


def _link() -> dict[str, Any]:
    wanted = ("host", "port", "dbname", "user", "password")
    given = connection.get_connection_params()
    return {name: given[name] for name in wanted if name in given}


def test_what_fails_in_the_database_fails_its_lane_alone(make_row: MakeRow) -> None:
    make_row(Status.RETRYING)
    make_row(Status.RETRYING, priority=Priority.P0)

    def act(rows: Sequence[dict[str, Any]], _span: id_ranges.Span) -> int:
        if rows[0]["priority"] == Priority.P0:
            msg = "canceling statement due to lock timeout"
            raise OperationalError(msg)
        return len(rows)

    done = rounds.work(Due("retry", Status.RETRYING, 10), act)
    assert done == Swept(moved=1, failed=1)


@pytest.mark.django_db
def test_the_sweep_runs_once_an_interval() -> None:
    every = dt.timedelta(hours=1)
    assert sweep_runs.begin("partitions", every=every) == SweepStart(failed_before=0)
    assert not sweep_runs.begin("partitions", every=every)
    sweep_runs.end("partitions", moved=3, failed=2)
    now = dt.timedelta(0)
    assert sweep_runs.begin("partitions", every=now) == SweepStart(failed_before=2)
    assert Notification.objects.count() == 0
