"""After a resume every held row is released, P0 first, in bounded numbers."""

from __future__ import annotations

import datetime as dt
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from types import SimpleNamespace
from uuid import UUID

import pytest
from django.db import connection, transaction

from notifications.core import clock, feature
from notifications.core.models import Delivery, Producer, Switch
from notifications.core.operations import switches as operations
from notifications.core.operations.switches import SwitchTarget
from notifications.core.rules.lane import Priority
from notifications.core.rules.states import Status
from notifications.core.rules.switches import SETTLED_AFTER, SwitchKind
from notifications.core.store.cached import switches as cached
from notifications.core.store.postgres import partitions
from notifications.core.sweeps import release
from tests.sweeps.conftest import MakeRow

HOUR = dt.timedelta(hours=1)

pytestmark = [pytest.mark.django_db, pytest.mark.usefixtures("broker")]


@pytest.fixture(autouse=True)
def _fresh() -> Iterator[None]:
    cached.forget()
    yield
    cached.forget()


def _set(value: str = "TEST") -> Switch:
    target = SwitchTarget(kind=SwitchKind.TYPE, value=value)
    return operations.set_switch(target, reason="wrong", expires_at=None, by="maria")


def _held(make_row: MakeRow, switch: Switch, **columns: object) -> UUID:
    given = {"due_at": clock.now() + HOUR, "reason": "paused", **columns}
    return make_row(Status.SCHEDULED, switch_id=switch.pk, **given)


def _status(row: UUID) -> Status:
    return Status(Delivery.objects.values_list("status", flat=True).get(id=row))


def test_a_resume_queues_the_rows_of_its_switch_only(make_row: MakeRow) -> None:
    mine, other = _set(), _set("OTHER")
    rows = [_held(make_row, mine, priority=each) for each in Priority]
    left, quiet = _held(make_row, other), _held(make_row, mine, reason="quiet_hours")
    release.run_once(now=clock.now(), limit=500)
    assert {_status(row) for row in rows} == {Status.SCHEDULED}
    operations.resume(Switch.objects.filter(pk=mine.pk), by="maria")
    release.run_once(now=clock.now(), limit=500)
    assert {_status(row) for row in rows} == {Status.QUEUED}
    assert _status(left) is _status(quiet) is Status.SCHEDULED


def test_a_resume_is_bounded_a_run_and_p0_comes_first(
    make_row: MakeRow, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(release, "RAMP", 2)
    row = _set()
    found = {each: [_held(make_row, row, priority=each) for _ in range(3)] for each in Priority}
    operations.resume(Switch.objects.all(), by="maria")

    def due() -> list[int]:
        is_due = Delivery.objects.filter(due_at__lte=clock.now())
        return [is_due.filter(id__in=found[each]).count() for each in Priority]

    moved = [(release.end_switch_holds().moved, due()) for _ in range(4)]
    assert moved == [
        (4, [2, 0, 2, 0]),
        (4, [3, 1, 3, 1]),
        (4, [3, 3, 3, 3]),
        (0, [3, 3, 3, 3]),
    ]


@pytest.mark.parametrize(("is_installed", "moved"), [(True, 7), (False, 2)])
def test_a_feature_releases_the_rows_of_its_kind(
    make_row: MakeRow, monkeypatch: pytest.MonkeyPatch, *, is_installed: bool, moved: int
) -> None:
    own = SimpleNamespace(releases={"type": "a.feature.release"})
    monkeypatch.setattr(feature, "all_features", lambda: [own] if is_installed else [])
    monkeypatch.setattr(feature, "import_function", lambda _: lambda *_, **__: 7)
    row = _set()
    for _ in range(2):
        _held(make_row, row)
    operations.resume(Switch.objects.all(), by="maria")
    assert release.end_switch_holds().moved == moved


def test_a_row_of_an_older_day_comes_back_at_once(make_row: MakeRow) -> None:
    row = _set()
    partitions.ensure(clock.now().date() - dt.timedelta(days=5), days=6)
    recent = _held(make_row, row)
    older = UUID(int=recent.int - (5 * 86_400_000 << 80))
    Delivery.objects.filter(id=recent).update(id=older)
    release.run_once(now=clock.now(), limit=500)  # the process has looked at the older days
    operations.resume(Switch.objects.all(), by="maria")
    release.run_once(now=clock.now(), limit=500)
    assert _status(older) is Status.QUEUED


def test_a_hold_that_is_stored_after_the_resume_is_released_too(make_row: MakeRow) -> None:
    row = _set()
    operations.resume(Switch.objects.all(), by="maria")
    assert release.end_switch_holds().moved == 0
    late = _held(make_row, row)
    assert release.end_switch_holds().moved == 1
    past = clock.now() - SETTLED_AFTER - HOUR
    Switch.objects.update(resumed_at=past)
    late = _held(make_row, row)
    assert release.end_switch_holds().moved == 1  # rows are left: not settled yet
    assert Switch.objects.get().released_at is None
    assert release.end_switch_holds().moved == 0
    assert Switch.objects.get().released_at is not None
    assert Delivery.objects.get(id=late).due_at < clock.now()  # type: ignore[operator]  # it has one


@pytest.mark.django_db(transaction=True)
def test_a_row_that_another_transaction_locks_is_not_forgotten(make_row: MakeRow) -> None:
    row = _held(make_row, _set())
    Switch.objects.update(resumed_at=clock.now() - SETTLED_AFTER - HOUR)
    with ThreadPoolExecutor(1) as other, transaction.atomic():
        Delivery.objects.select_for_update().get(id=row)
        assert other.submit(_end_holds).result() == 0
    assert release.end_switch_holds().moved == 1


def _end_holds() -> int:
    try:
        return release.end_switch_holds().moved
    finally:
        connection.close()


def test_counts_are_by_switch_and_priority(make_row: MakeRow) -> None:
    mine, other = _set(), _set("OTHER")
    rows = [
        _held(make_row, mine, priority=each) for each in (Priority.P0, Priority.P0, Priority.P3)
    ]
    _held(make_row, other)
    found = operations.by_switch([mine])
    assert {each: held.count for each, held in found[mine.pk].items()} == {
        Priority.P0: 2,
        Priority.P3: 1,
    }
    assert found[mine.pk][Priority.P0].first_due == Delivery.objects.get(id=rows[0]).due_at


def test_a_forecast_counts_what_would_wait(make_row: MakeRow) -> None:
    Producer.objects.get_or_create(pk=1, defaults={"name": "tests"})
    make_row(Status.QUEUED, priority=Priority.P0)
    make_row(Status.RETRYING, priority=Priority.P3)
    make_row(Status.SCHEDULED, priority=Priority.P3, due_at=clock.now() + 3 * HOUR)
    make_row(Status.SENT, priority=Priority.P3, due_at=None)

    def counts(kind: SwitchKind, value: str) -> list[int]:
        found = operations.forecast(SwitchTarget(kind=kind, value=value))
        return [found[each].count for each in Priority]

    name = Producer.objects.get(pk=1).name
    assert counts(SwitchKind.TYPE, "TEST") == [1, 0, 0, 1]
    assert counts(SwitchKind.PRODUCER, name) == [1, 0, 0, 1]
    assert counts(SwitchKind.LANE, "p0.push") == [1, 0, 0, 0]
    assert counts(SwitchKind.CHANNEL, "push") == [1, 0, 0, 1]
    assert counts(SwitchKind.TYPE, "OTHER") == [0, 0, 0, 0]
