"""The service's time is Postgres's; a host whose clock is far from it does not work."""

from __future__ import annotations

import datetime as dt
from collections.abc import Callable, Iterator

import pytest
from django.db import connection

from notifications.core import clock
from notifications.core.models import Alert
from notifications.core.rules import ids
from notifications.core.rules.alerts import AlertKind
from notifications.core.store.postgres import host_clock

pytestmark = pytest.mark.django_db

SetClock = Callable[[dt.timedelta], None]


@pytest.fixture
def set_clock(monkeypatch: pytest.MonkeyPatch) -> Iterator[SetClock]:
    """Set this host's clock that far from the true time."""
    true = clock.host

    def put(off: dt.timedelta) -> None:
        monkeypatch.setattr(clock, "host", lambda: true() + off)

    yield put
    clock.forget()


def _database() -> dt.datetime:
    with connection.cursor() as running:
        running.execute("SELECT clock_timestamp()")
        row = running.fetchone()
    assert row is not None
    now: dt.datetime = row[0]
    return now


def _off(minutes: float) -> dt.timedelta:
    return dt.timedelta(minutes=minutes)


@pytest.mark.parametrize("minutes", [-120, 0, 120])
def test_now_is_the_databases_time_whatever_the_host_says(
    set_clock: SetClock, minutes: float
) -> None:
    set_clock(_off(minutes))
    assert host_clock.compare()
    before, now, then = _database(), clock.now(), _database()
    slack = dt.timedelta(seconds=30)  # half of the time that an answer takes
    assert before - slack <= now <= then + slack
    day = clock.new_notification_id()
    after = clock.now().date()
    assert ids.floor_of(now.date()) <= day < ids.floor_of(after + dt.timedelta(days=1))


def test_a_clock_that_is_set_while_the_process_runs_changes_nothing(set_clock: SetClock) -> None:
    assert host_clock.compare()
    before = clock.now()
    set_clock(_off(-60))
    assert before <= clock.now() < before + _off(1)


def test_a_process_that_never_compared_uses_its_host(set_clock: SetClock) -> None:
    set_clock(_off(60))
    assert clock.now() - _database() > _off(59)
    assert clock.is_trusted()


def test_a_watched_clock_is_trusted_only_after_it_was_compared(set_clock: SetClock) -> None:
    set_clock(_off(0))
    clock.watch(limit=dt.timedelta(seconds=2))
    assert not clock.is_trusted()
    assert "could not be compared" in host_clock.fault()
    assert host_clock.compare()
    assert clock.is_trusted()
    assert not host_clock.fault()


def test_a_change_is_told_raises_an_alert_and_ends_with_the_fault(set_clock: SetClock) -> None:
    told: list[bool] = []
    watch = host_clock.Watch(on_change=told.append)
    clock.watch(limit=dt.timedelta(seconds=2))
    watch.look()
    assert (told, Alert.objects.count()) == ([], 0)
    set_clock(_off(120))
    watch.look()
    alert = Alert.objects.get(resolved_at=None)
    assert (alert.kind, alert.subject) == (AlertKind.CLOCK_SKEW, host_clock.host_name())
    assert "7200.0 s ahead" in alert.detail
    assert host_clock.host_name() in alert.detail
    set_clock(_off(0))
    watch.look()
    assert told == [False, True]
    assert not Alert.objects.filter(resolved_at=None).exists()


def test_an_alert_of_an_earlier_process_is_resolved_by_the_next(set_clock: SetClock) -> None:
    set_clock(_off(0))
    Alert.objects.create(
        kind=AlertKind.CLOCK_SKEW, subject=host_clock.host_name(), detail="it was off"
    )
    clock.watch(limit=dt.timedelta(seconds=2))
    host_clock.Watch().look()
    assert not Alert.objects.filter(resolved_at=None).exists()
