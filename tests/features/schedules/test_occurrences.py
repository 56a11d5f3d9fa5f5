"""What recurs becomes one notification each time, whoever looks how often, and however late."""

from __future__ import annotations

import datetime as dt
import itertools
from concurrent.futures import ThreadPoolExecutor
from threading import Barrier
from typing import Any
from zoneinfo import ZoneInfo

import psycopg
import pytest
from django.contrib.postgres.functions import TransactionNow
from django.db import connection

from notifications.core import clock
from notifications.core.intake.accept import Caller
from notifications.core.models import (
    Alert,
    Delivery,
    Notification,
    Occurrence,
    Producer,
    Recipient,
    Schedule,
)
from notifications.core.rules.alerts import AlertKind
from notifications.core.rules.problems import Kind, Problem
from notifications.core.rules.states import Status
from notifications.core.store.postgres import alerts
from notifications.core.store.redis import state
from notifications.core.sweeps import rounds
from notifications.core.sweeps.rounds import Swept
from notifications.features.schedules import changes, occurrences, sweep

HOUR = dt.timedelta(hours=1)
DAY = dt.timedelta(days=1)
HOURLY = "FREQ=HOURLY;BYMINUTE=0"


@pytest.fixture(autouse=True)
def _unhurried(monkeypatch: pytest.MonkeyPatch) -> None:
    """A sweep gets as far on a slow machine as on a fast one."""
    monkeypatch.setattr(rounds, "SECONDS", 60.0)


def _asked(**fields: object) -> dict[str, Any]:
    body = {"user_id": "maria", "type": "LIKE", "template_id": "like", "channels": ["email"]}
    return {**body, "variables": {"name": "Ana"}, **fields}


def _made(caller: Caller, rrule: str = HOURLY, **fields: object) -> Schedule:
    wanted = {"name": "digest", "rrule": rrule, "starts_at": clock.now(), "request": _asked()}
    return changes.create(caller, {**wanted, **fields})


def _refused(caller: Caller, **fields: object) -> Problem:
    with pytest.raises(changes.ScheduleRefused) as refused:
        _made(caller, **fields)  # type: ignore[arg-type]  # fields by name
    return refused.value.problem


def _sweep(*, later: dt.timedelta = dt.timedelta(0)) -> int:
    return sweep.run_once(now=clock.now() + later, limit=50).moved


def _waiting() -> list[dt.datetime]:
    found = Delivery.objects.filter(status=Status.SCHEDULED).order_by("due_at")
    return [row.due_at for row in found if row.due_at is not None]


@pytest.mark.usefixtures("maria")
def test_the_coming_day_becomes_notifications_and_each_occurrence_is_made_once(
    caller: Caller,
) -> None:
    schedule = _made(caller)
    assert _sweep() == 24
    first = _waiting()
    assert [each.minute for each in first] == [0] * 24
    assert occurrences.next_at(schedule, now=clock.now()) == first[0]
    assert _sweep() == 0
    assert _sweep(later=2 * HOUR) == 2
    assert len(set(_waiting())) == len(_waiting()) == 26


@pytest.mark.django_db(transaction=True)
@pytest.mark.usefixtures("maria")
def test_two_beats_make_each_occurrence_once(caller: Caller) -> None:
    _made(caller)
    start = Barrier(2)

    def beat() -> int:
        try:
            start.wait(timeout=20)
            return _sweep()
        finally:
            connection.close()

    with ThreadPoolExecutor(2) as pool:
        made = [pool.submit(beat) for _ in range(2)]
        assert sum(each.result(timeout=30) for each in made) == 24
    assert Notification.objects.count() == 24


@pytest.mark.django_db(transaction=True)
@pytest.mark.usefixtures("maria")
def test_a_lock_timeout_stops_no_other_schedule_and_is_no_problem_of_its_own(
    caller: Caller,
) -> None:
    first, second = _made(caller, name="first"), _made(caller, name="second")
    Schedule.objects.filter(pk=first.pk).update(problem="KeyError")
    alerts.raise_once(AlertKind.SCHEDULE_FAILED, str(first.pk), "KeyError")
    with psycopg.connect(**connection.get_connection_params()) as other:
        other.execute("SELECT FROM notifications_alert FOR UPDATE")
        assert sweep.run_once(now=clock.now(), limit=50) == Swept(24, failed=1)
    assert Occurrence.objects.filter(schedule=second).count() == 24
    assert Schedule.objects.get(pk=first.pk).retry_at is None


@pytest.mark.usefixtures("maria")
def test_of_what_was_missed_the_last_is_sent_while_its_time_to_live_lasts(caller: Caller) -> None:
    schedule = _made(caller, starts_at=clock.now() - 9 * DAY, request=_asked(ttl_seconds=7200))
    # Beat has been dead for three days.
    stood = clock.now().replace(minute=0, second=0, microsecond=0) - 3 * DAY
    schedule.next_local = stood.replace(tzinfo=None).isoformat()
    schedule.due_at = stood - occurrences.AHEAD
    schedule.save()
    assert _sweep() == 25
    late = Notification.objects.get(scheduled_at__lte=clock.now())
    assert late.scheduled_at is not None
    assert clock.now() - late.scheduled_at < HOUR
    assert (
        dt.timedelta(0) < late.expires_at - late.scheduled_at <= 2 * HOUR + dt.timedelta(seconds=5)
    )
    assert Delivery.objects.filter(status=Status.QUEUED).count() == 1


@pytest.mark.usefixtures("maria")
def test_what_was_missed_for_too_long_is_not_sent(caller: Caller) -> None:
    begins = clock.now() - 5 * HOUR
    schedule = _made(caller, "FREQ=DAILY", starts_at=begins, request=_asked(ttl_seconds=60))
    schedule.next_local = begins.replace(tzinfo=None).isoformat(timespec="seconds")
    schedule.due_at = begins - occurrences.AHEAD
    schedule.save()
    assert _sweep() == 1
    assert len(_waiting()) == Notification.objects.count() == 1


@pytest.mark.usefixtures("maria")
def test_a_change_withdraws_what_has_not_left_and_makes_it_anew(caller: Caller) -> None:
    schedule = _made(caller)
    _sweep()
    changes.change(caller, schedule.pk, {"rrule": "FREQ=HOURLY;BYMINUTE=30"})
    assert Delivery.objects.filter(status=Status.CANCELLED).count() == 24
    assert _sweep() == 24
    assert {each.minute for each in _waiting()} == {30}


@pytest.mark.usefixtures("maria")
def test_a_refused_change_withdraws_nothing(caller: Caller) -> None:
    schedule = _made(caller)
    _made(caller, "FREQ=DAILY", name="taken", paused=True)
    _sweep()
    with pytest.raises(changes.ScheduleRefused, match="there is a schedule with the name taken"):
        changes.change(caller, schedule.pk, {"name": "taken"})
    assert not Delivery.objects.filter(status=Status.CANCELLED).exists()
    assert len(_waiting()) == 24


@pytest.mark.usefixtures("maria")
def test_a_pause_withdraws_and_a_resumed_one_makes_up_for_nothing(caller: Caller) -> None:
    schedule = _made(caller)
    _sweep()
    changes.set_paused([schedule], to=True)
    schedule.refresh_from_db()
    assert (_waiting(), occurrences.next_at(schedule, now=clock.now())) == ([], None)
    assert _sweep(later=2 * DAY) == 0
    changes.set_paused([schedule], to=False)
    assert _sweep() == 24


@pytest.mark.usefixtures("maria")
def test_a_schedule_that_is_gone_leaves_nothing_behind(caller: Caller) -> None:
    schedule = _made(caller)
    _sweep()
    assert changes.remove(caller, schedule.pk)
    assert not changes.remove(caller, schedule.pk)
    assert (_waiting(), Occurrence.objects.count()) == ([], 0)


def test_it_runs_on_the_recipients_clock_and_moves_with_them(
    caller: Caller, maria: Recipient
) -> None:
    Recipient.objects.filter(pk=maria.pk).update(timezone="Asia/Tokyo")
    _made(caller, "FREQ=DAILY;BYHOUR=9;BYMINUTE=0")
    _sweep()
    [at] = _waiting()
    assert at.astimezone(ZoneInfo("Asia/Tokyo")).hour == 9
    [row] = Notification.objects.all()
    assert (row.local_at[11:], row.local_zone) == ("09:00", "Asia/Tokyo")
    Recipient.objects.filter(pk=maria.pk).update(timezone="Europe/Berlin")
    # Two days: until nine in Berlin, the next day's in Tokyo may have been made.
    _sweep(later=2 * DAY)
    days = [each.local_at[:10] for each in Occurrence.objects.order_by("at")]
    assert len(set(days)) == len(days) >= 2


def test_an_occurrence_that_cannot_be_says_why_and_the_next_is_tried(
    caller: Caller, maria: Recipient
) -> None:
    _made(caller, "FREQ=DAILY")
    maria.delete()
    _sweep(later=DAY)
    for occurrence in Occurrence.objects.all():
        assert occurrence.notification_id is None
        assert "unknown user_id" in occurrence.problem
    assert Occurrence.objects.exists()
    assert Schedule.objects.get().due_at is not None


@pytest.mark.usefixtures("maria")
@pytest.mark.parametrize("end", ["change", "pause", "remove"])
def test_a_changed_paused_or_deleted_schedule_ends_its_alert(caller: Caller, end: str) -> None:
    schedule = _made(caller)
    Schedule.objects.filter(pk=schedule.pk).update(
        request={"type": "LIKE"}, due_at=TransactionNow()
    )
    assert sweep.run_once(now=clock.now(), limit=50).failed == 1
    alert = Alert.objects.get(kind=AlertKind.SCHEDULE_FAILED, subject=str(schedule.pk))
    assert alert.resolved_at is None
    if end == "change":
        changes.change(caller, schedule.pk, {"request": _asked()})
    elif end == "pause":
        changes.set_paused([schedule], to=True)
    else:
        assert changes.remove(caller, schedule.pk)
    alert.refresh_from_db()
    assert alert.resolved_at is not None


@pytest.mark.usefixtures("maria")
def test_a_sweep_killed_after_the_commit_of_a_schedule_leaves_no_alert(
    caller: Caller, monkeypatch: pytest.MonkeyPatch
) -> None:
    schedule = _made(caller)
    Schedule.objects.update(problem="KeyError")
    alerts.raise_once(AlertKind.SCHEDULE_FAILED, str(schedule.pk), "KeyError")
    make = occurrences.materialise

    def materialise(schedule_id: int, *, now: dt.datetime) -> int:
        make(schedule_id, now=now)
        raise KeyboardInterrupt

    monkeypatch.setattr(occurrences, "materialise", materialise)
    with pytest.raises(KeyboardInterrupt):
        _sweep()
    assert Alert.objects.get(kind=AlertKind.SCHEDULE_FAILED).resolved_at is not None


@pytest.mark.usefixtures("maria")
def test_the_failure_of_a_deleted_schedule_leaves_no_alert(
    caller: Caller, monkeypatch: pytest.MonkeyPatch
) -> None:
    schedule = _made(caller)

    def materialise(_schedule_id: int, *, now: dt.datetime) -> int:
        assert changes.remove(caller, schedule.pk)
        msg = f"a fault at {now}"
        raise ValueError(msg)

    monkeypatch.setattr(occurrences, "materialise", materialise)
    assert sweep.run_once(now=clock.now(), limit=50).failed == 1
    assert not Alert.objects.exists()


@pytest.mark.usefixtures("maria")
def test_an_occurrence_during_a_change_is_made_again(
    caller: Caller, monkeypatch: pytest.MonkeyPatch
) -> None:
    schedule = _made(caller)
    _sweep()
    first = _waiting()[0]
    times = iter([first - dt.timedelta(seconds=1)])
    with monkeypatch.context() as patch:
        patch.setattr(clock, "now", lambda: next(times, first))
        changes.set_paused([schedule], to=False)
    schedule.refresh_from_db()
    assert schedule.due_at == first - occurrences.AHEAD


@pytest.mark.usefixtures("maria")
def test_it_ends(caller: Caller) -> None:
    _made(caller, ends_at=clock.now() + 3 * HOUR)
    assert _sweep() == 3
    assert Schedule.objects.get().due_at is None


@pytest.mark.usefixtures("maria")
@pytest.mark.parametrize(
    ("fields", "pointer"),
    [
        ({"rrule": "FREQ=SECONDLY"}, "/rrule"),
        ({"ends_at": -DAY}, "/ends_at"),
        ({"request": _asked(user_id="nobody")}, "/notification/user_id"),
        ({"request": _asked(send_at_local="09:00")}, "/notification"),
        (
            {"request": _asked(template_id="otp", variables={"name": "Ana", "code": "4711"})},
            "/notification/variables",
        ),
        ({"request": _asked(type=5)}, "/notification/type"),
    ],
)
def test_what_is_refused_points_at_what_is_wrong(
    caller: Caller, fields: dict[str, Any], pointer: str
) -> None:
    times = {
        name: clock.now() + each for name, each in fields.items() if isinstance(each, dt.timedelta)
    }
    assert _refused(caller, **fields | times).errors[0].pointer == pointer
    assert not Schedule.objects.exists()


@pytest.mark.usefixtures("maria")
def test_schedules_that_cannot_be_read_stop_no_other_and_run_again_when_they_can(
    caller: Caller, monkeypatch: pytest.MonkeyPatch
) -> None:
    bad = [_made(caller, name=f"bad-{number}") for number in range(4)]
    broken, raising = bad[:3], bad[3]
    good = _made(caller, name="good", rrule="FREQ=DAILY;BYHOUR=9;BYMINUTE=0")
    numbers = [each.pk for each in broken]
    Schedule.objects.filter(pk__in=numbers).update(request={"type": "LIKE", "user_id": "maria"})
    make = occurrences.materialise

    def materialise(schedule_id: int, *, now: dt.datetime) -> int:
        if schedule_id == raising.pk:
            msg = "no such rule any more"
            raise ValueError(msg)
        return make(schedule_id, now=now)

    before = clock.now() - HOUR
    Schedule.objects.filter(pk__in=[*numbers, raising.pk]).update(due_at=before)
    with monkeypatch.context() as patch:
        patch.setattr(occurrences, "materialise", materialise)
        done = sweep.run_once(now=clock.now(), limit=2)
        assert (done.moved, done.failed) == (1, 4)
        assert good.occurrences.count() == 1
        assert all(each.problem for each in Schedule.objects.filter(pk__in=numbers))
        assert Schedule.objects.get(pk=raising.pk).problem == "ValueError"
        assert Alert.objects.filter(kind=AlertKind.SCHEDULE_FAILED, resolved_at=None).count() == 4
        assert sweep.run_once(now=clock.now(), limit=2) == Swept()
    Schedule.objects.filter(pk__in=numbers).update(request=_asked())
    done = sweep.run_once(now=clock.now() + HOUR, limit=2)
    assert (done.moved > 0, done.failed) == (True, 0)
    assert not Schedule.objects.exclude(problem="").exists()
    assert not Alert.objects.filter(kind=AlertKind.SCHEDULE_FAILED, resolved_at=None).exists()


@pytest.mark.usefixtures("maria")
def test_what_is_far_ahead_waits_for_room_in_the_producers_rate(caller: Caller) -> None:
    Producer.objects.filter(pk=caller.producer_id).update(rate_per_second=0, rate_burst=5)
    state.client().flushdb()
    _made(caller, "FREQ=MINUTELY")
    assert 60 <= _sweep() <= 60 + 5
    for hours in range(1, 4):
        assert 60 <= _sweep(later=hours * HOUR) <= 60 + 5
    times = list(Occurrence.objects.order_by("at").values_list("at", flat=True))
    assert all(later - at == dt.timedelta(minutes=1) for at, later in itertools.pairwise(times))
    assert Notification.objects.count() == len(times)


@pytest.mark.usefixtures("maria")
def test_a_producer_has_so_many_schedules_and_no_more(
    caller: Caller, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(changes, "MAX_SCHEDULES", 2)
    for name in ("a", "b"):
        _made(caller, name=name)
    assert _refused(caller, name="c").kind is Kind.CONFLICT
    assert Schedule.objects.count() == 2
