"""Stale P3 are dropped while the lag of their lane is over the limits, and nothing else is."""

from __future__ import annotations

import datetime as dt
from collections.abc import Callable, Iterable
from typing import Any
from uuid import UUID

import pytest

from notifications.core import clock
from notifications.core.models import Alert, DeadLetter, Delivery, Event, LaneLag
from notifications.core.rules import ids
from notifications.core.rules.alerts import AlertKind
from notifications.core.rules.lane import Mode, Priority
from notifications.core.rules.rate_limits.frequency_caps import Cap
from notifications.core.rules.reasons import Reason
from notifications.core.rules.states import Status
from notifications.core.store.postgres import id_ranges
from notifications.core.store.postgres import lane_lag as store
from notifications.core.store.rate_limits import frequency_caps
from notifications.core.store.rate_limits.frequency_caps import CapRequest, Window
from notifications.core.sweeps import rounds
from notifications.features.back_pressure import stale, sweep
from notifications.features.back_pressure.models import LagLimits
from providers.contract import Channel
from tests.sweeps.conftest import MakeRow

HOUR = dt.timedelta(hours=1)
pytestmark = [pytest.mark.django_db, pytest.mark.usefixtures("broker")]


@pytest.fixture(autouse=True)
def _limits(monkeypatch: pytest.MonkeyPatch) -> None:
    """More than five waiting P3 SMS are too many; a row counts from its due time."""
    long_ago, time_of = clock.now() - dt.timedelta(days=9), ids.time_of
    monkeypatch.setattr(ids, "time_of", lambda _id: long_ago)
    monkeypatch.setattr(ids, "day_of", lambda any_id: time_of(any_id).date())  # of the partition
    LagLimits.objects.create(channel=Channel.SMS, drop_waiting=5)


def _rows(make_row: MakeRow, count: int, *, hours: float = 3, **columns: object) -> list[UUID]:
    given = {"priority": Priority.P3, "channel": Channel.SMS, **columns}
    due_at = clock.now() - hours * HOUR
    return [
        make_row(**{"due_at": due_at + number * dt.timedelta(seconds=1), **given})
        for number in range(count)
    ]


def _run(*, limit: int = 2) -> int:
    id_ranges.forget()
    return sweep.run_once(now=clock.now(), limit=limit).moved


def _dropped(rows: Iterable[UUID]) -> list[bool]:
    found = dict(Delivery.objects.values_list("id", "status"))
    return [found[row] == Status.SUPPRESSED for row in rows]


def test_the_oldest_are_dropped_until_the_lag_is_under_the_limit(make_row: MakeRow) -> None:
    old = _rows(make_row, 6)
    new = _rows(make_row, 4, hours=1)
    assert _run() == 6  # pages of two: 10, 8, 6, 4 wait
    assert _dropped(old) == [True] * 6
    assert _dropped(new) == [False] * 4
    events = Event.objects.filter(reason=Reason.STALE, status=Status.SUPPRESSED)
    assert {event.delivery_id for event in events} == set(old)
    assert not DeadLetter.objects.exists()
    alert = Alert.objects.get(kind=AlertKind.STALE_DROPPED, resolved_at=None)
    assert alert.subject == "p3.sms"
    assert "6 stale deliveries were dropped; 4 wait, the oldest for 1.0 h" in alert.detail
    assert _run() == 0


def test_a_dropped_delivery_counts_against_no_cap(
    make_row: MakeRow, django_capture_on_commit_callbacks: Callable[..., Any]
) -> None:
    rows = _rows(make_row, 6)
    window = Window(Delivery.objects.get(id=rows[0]).recipient_id, Channel.SMS)
    cap = Cap(9, dt.timedelta(days=1))
    frequency_caps.count([
        CapRequest(ids.notification_of(each), window, cap, always=True) for each in rows
    ])
    with django_capture_on_commit_callbacks(execute=True):
        assert _run() == 2
    assert frequency_caps.counts([(window, cap)]) == [4]


def test_the_alert_ends_some_minutes_after_the_last_drop(make_row: MakeRow) -> None:
    _rows(make_row, 6)
    assert _run() == 2
    assert Alert.objects.filter(kind=AlertKind.STALE_DROPPED, resolved_at=None).exists()
    LaneLag.objects.update(dropped_at=clock.now() - stale.QUIET * 2)
    _run()
    assert not Alert.objects.filter(kind=AlertKind.STALE_DROPPED, resolved_at=None).exists()


def test_the_age_of_the_oldest_is_a_limit_too(make_row: MakeRow) -> None:
    LagLimits.objects.update(drop_waiting=1_000, drop_behind_seconds=4 * 3_600)
    oldest, younger = _rows(make_row, 2, hours=5), _rows(make_row, 3)
    assert _run() == 2
    assert _dropped([*oldest, *younger]) == [True, True, False, False, False]


def test_nothing_younger_than_the_limit_is_dropped(make_row: MakeRow) -> None:
    rows = _rows(make_row, 20, hours=1)
    assert _run() == 0
    assert not any(_dropped(rows))


def test_other_priorities_and_channels_and_test_mode_are_left(make_row: MakeRow) -> None:
    LagLimits.objects.update(drop_waiting=1)
    for priority in (Priority.P0, Priority.P1, Priority.P2):
        _rows(make_row, 4, priority=priority)
    _rows(make_row, 4, channel=Channel.PUSH)
    test = _rows(make_row, 4)
    Delivery.objects.filter(id__in=test).update(mode=Mode.TEST)
    assert _run() == 0
    assert not Delivery.objects.filter(status=Status.SUPPRESSED).exists()


def test_rows_in_other_hands_are_left(make_row: MakeRow) -> None:
    LagLimits.objects.update(drop_waiting=1)
    left = [
        *_rows(make_row, 2, status=Status.SENDING),
        *_rows(make_row, 2, status=Status.SCHEDULED, contact_id=None),
        *_rows(make_row, 2, status=Status.RETRYING),
        *_rows(make_row, 2, attempts=1),
        *_rows(make_row, 2, hours=-1),
    ]
    assert _run() == 0
    assert not any(_dropped(left))


def test_the_time_of_a_hold_does_not_count(make_row: MakeRow) -> None:
    held = _rows(make_row, 8)
    for row in held:
        Event.objects.create(
            notification_id=ids.notification_of(row),
            seq=7,
            delivery_id=row,
            status=Status.QUEUED,
            reason=Reason.HOLD_OVER,
            at=clock.now() - HOUR,
        )
    stale_row = _rows(make_row, 1, hours=2.5)
    assert _run() == 1  # behind four pages of rows that are not stale
    assert _dropped([*held, *stale_row]) == [False] * 8 + [True]


def test_the_next_run_goes_on_behind_rows_that_are_not_stale(
    make_row: MakeRow, monkeypatch: pytest.MonkeyPatch
) -> None:
    held = _rows(make_row, 8)
    monkeypatch.setattr(
        ids, "time_of", lambda each: clock.now() - (HOUR if each in held else 9 * HOUR)
    )
    [stale_row] = _rows(make_row, 1, hours=2.5)
    monkeypatch.setattr(rounds, "SECONDS", 0.0)  # a run has time for one page
    moved = [_run() for _ in range(12)]
    assert sum(moved) == 1
    assert _dropped([stale_row]) == [True]


def test_a_process_that_was_stopped_after_its_sample_drops_nothing(
    make_row: MakeRow, monkeypatch: pytest.MonkeyPatch
) -> None:
    rows = _rows(make_row, 6)
    id_ranges.forget()
    sampled_at, now = clock.now(), clock.now
    [row] = store.sample(now=sampled_at)
    monkeypatch.setattr(clock, "now", lambda: now() + dt.timedelta(minutes=2))
    own = sweep.limits_by_channel()[Channel.SMS]
    assert stale.drop(row, own, now=sampled_at, limit=10).moved == 0
    assert not any(_dropped(rows))


def test_a_run_that_finds_the_lag_under_the_limit_drops_nothing(make_row: MakeRow) -> None:
    rows = _rows(make_row, 5)
    assert _run() == 0
    assert not any(_dropped(rows))
