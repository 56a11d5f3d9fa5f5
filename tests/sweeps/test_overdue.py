"""Beat's periodic tasks: created once, changed by operators, and told when they do not run."""

from __future__ import annotations

import datetime as dt
import json
import threading
from collections.abc import Callable

import pytest
from django.core.management.sql import emit_post_migrate_signal
from django.db.models import F
from django_celery_beat.models import CrontabSchedule, IntervalSchedule, PeriodicTask

from notifications.core import clock, sweeps
from notifications.core.alerting import notices
from notifications.core.models import Alert, SweepRun
from notifications.core.rules.alerts import BEAT, AlertKind
from notifications.core.rules.lane import OPS
from notifications.core.store.postgres import periodic_tasks, sweep_runs
from notifications.core.sweeps import SWEEPS, overdue
from notifications.core.tasks.sweep import TASKS

pytestmark = pytest.mark.django_db

_MINUTE = dt.timedelta(minutes=1)


@pytest.fixture(autouse=True)
def _created() -> None:
    sweeps.create_periodic_tasks()


def _ran(name: str, *, ago: dt.timedelta) -> None:
    SweepRun.objects.update_or_create(name=name, defaults={"started_at": clock.now() - ago})


def _all_ran() -> None:
    for name in SWEEPS:
        _ran(name, ago=dt.timedelta(seconds=1))


def _open() -> set[tuple[str, str]]:
    return set(Alert.objects.filter(resolved_at=None).values_list("kind", "subject"))


def test_each_sweep_has_a_row_whose_task_exists() -> None:
    rows = PeriodicTask.objects.filter(task__startswith=periodic_tasks.PREFIX)
    assert {row.name for row in rows} == set(SWEEPS)
    assert {row.task for row in rows} == {periodic_tasks.task_name(name) for name in TASKS}
    assert {row.name: row.queue for row in rows} == {
        name: sweep.queue for name, sweep in SWEEPS.items()
    }
    assert {row.name for row in rows if row.queue != OPS} == {"tell", "expand"}
    assert all(row.enabled for row in rows)
    assert {row.name: periodic_tasks.interval_of(row) for row in rows} == {
        name: sweep.every for name, sweep in SWEEPS.items()
    }


def test_migrate_keeps_what_an_operator_has_set_and_deletes_tasks_that_no_longer_exist(
    log_output: Callable[[], str],
) -> None:
    relay = PeriodicTask.objects.get(name="relay")
    periodic_tasks.set_interval(relay, 7)
    relay.enabled = False
    relay.save()
    PeriodicTask.objects.filter(name="retry").delete()
    PeriodicTask.objects.filter(name="release").update(name="gone", task="sweep_gone")
    PeriodicTask.objects.filter(name="rescue").update(name="tick", task="tick")
    every = IntervalSchedule.objects.create(every=1, period=IntervalSchedule.HOURS)
    PeriodicTask.objects.create(name="further archive", task="sweep_archive", interval=every)
    PeriodicTask.objects.create(name="of Celery", task="celery.backend_cleanup", interval=every)
    PeriodicTask.objects.create(
        name="of a removed app", task="sweep_removed", interval=every, enabled=False
    )
    SweepRun.objects.create(name="removed", started_at=clock.now(), running_since=clock.now())
    emit_post_migrate_signal(verbosity=0, interactive=False, db="default")
    lines = map(json.loads, log_output().splitlines())
    deleted = [line["name"] for line in lines if line["event"] == "periodic_task_deleted"]
    assert deleted == ["gone", "tick"]
    names = set(PeriodicTask.objects.values_list("name", flat=True))
    assert names == {*SWEEPS, "further archive", "of Celery", "of a removed app"}
    assert not SweepRun.objects.filter(name="removed").exists()
    assert periodic_tasks.rhythms()["relay"] == periodic_tasks.Rhythm(
        every=dt.timedelta(seconds=7), limit=None, is_on=False
    )
    assert set(periodic_tasks.rhythms()) == {*SWEEPS, "removed"}


def test_a_doubled_message_runs_no_sweep_twice_in_its_interval() -> None:
    relay = PeriodicTask.objects.get(name="relay")
    periodic_tasks.set_interval(relay, 3600)
    relay.save()
    sweeps.run("relay")
    first = SweepRun.objects.get(name="relay").started_at
    sweeps.run("relay")
    assert SweepRun.objects.get(name="relay").started_at == first


def test_the_shortest_interval_of_the_tasks_of_a_sweep_counts() -> None:
    relay = PeriodicTask.objects.get(name="relay")
    periodic_tasks.set_interval(relay, 3600)
    relay.save()
    interval, _ = IntervalSchedule.objects.get_or_create(every=10, period=IntervalSchedule.MINUTES)
    PeriodicTask.objects.create(name="a second relay", task=relay.task, interval=interval)
    assert sweep_runs.begin("relay")
    _start_earlier("relay", by=8 * _MINUTE)
    assert not sweep_runs.begin("relay")
    _start_earlier("relay", by=_MINUTE)
    assert sweep_runs.begin("relay")


def test_a_task_that_is_off_does_not_count_in_the_interval() -> None:
    relay = PeriodicTask.objects.get(name="relay")
    periodic_tasks.set_interval(relay, 3600)
    relay.save()
    interval, _ = IntervalSchedule.objects.get_or_create(every=1, period=IntervalSchedule.SECONDS)
    second = PeriodicTask.objects.create(
        name="a second relay", task=relay.task, interval=interval, enabled=False
    )
    assert periodic_tasks.rhythms()["relay"].interval(_MINUTE) == 60 * _MINUTE
    assert sweep_runs.begin("relay")
    _start_earlier("relay", by=_MINUTE)
    assert not sweep_runs.begin("relay")
    PeriodicTask.objects.filter(name="relay").update(enabled=False)
    PeriodicTask.objects.filter(pk=second.pk).update(enabled=True)
    assert periodic_tasks.rhythms()["relay"] == periodic_tasks.Rhythm(
        every=dt.timedelta(seconds=1), limit=None, is_on=True
    )
    assert sweep_runs.begin("relay")
    assert overdue.look() == []  # the sweep runs, by its second task


def test_a_crontab_beside_an_interval_counts_as_the_usual_interval() -> None:
    relay = PeriodicTask.objects.get(name="relay")
    periodic_tasks.set_interval(relay, 3600)
    relay.save()
    crontab = CrontabSchedule.objects.create(hour="3")
    PeriodicTask.objects.create(name="a nightly relay", task=relay.task, crontab=crontab)
    rhythm = periodic_tasks.rhythms()["relay"]
    assert rhythm.interval(_MINUTE) == _MINUTE
    assert rhythm.interval(120 * _MINUTE) == 60 * _MINUTE
    assert sweep_runs.begin("relay", usual=_MINUTE)
    _start_earlier("relay", by=dt.timedelta(seconds=50))
    assert not sweep_runs.begin("relay", usual=_MINUTE)
    _start_earlier("relay", by=dt.timedelta(seconds=5))
    assert sweep_runs.begin("relay", usual=_MINUTE)


@pytest.mark.parametrize("has_task", [True, False])
def test_a_sweep_without_an_interval_keeps_its_usual_interval(*, has_task: bool) -> None:
    relay = PeriodicTask.objects.filter(name="relay")
    if has_task:
        crontab = CrontabSchedule.objects.create(hour="3")
        relay.update(interval=None, crontab=crontab)
    else:
        relay.delete()
    assert sweep_runs.begin("relay", usual=_MINUTE)
    _start_earlier("relay", by=dt.timedelta(seconds=50))
    assert not sweep_runs.begin("relay", usual=_MINUTE)
    _start_earlier("relay", by=dt.timedelta(seconds=5))
    assert sweep_runs.begin("relay", usual=_MINUTE)


def _start_earlier(name: str, *, by: dt.timedelta) -> None:
    SweepRun.objects.filter(name=name).update(started_at=F("started_at") - by)


def test_all_is_well() -> None:
    _all_ran()
    assert overdue.look() == []


def test_a_sweep_that_is_off_is_an_alert_until_it_is_on() -> None:
    _all_ran()
    PeriodicTask.objects.filter(name="rescue").update(enabled=False)
    [told] = overdue.look()
    assert SWEEPS["rescue"].stops in told.text
    assert _open() == {(AlertKind.SWEEP_OFF, "rescue")}
    PeriodicTask.objects.filter(name="rescue").update(enabled=True)
    assert overdue.look() == []
    assert _open() == set()


def test_a_sweep_that_begins_and_does_not_end_is_an_alert_until_it_ends() -> None:
    _all_ran()
    assert sweep_runs.begin("relay", every=dt.timedelta(0))
    SweepRun.objects.filter(name="relay").update(running_since=clock.now() - 6 * _MINUTE)
    overdue.look()
    assert _open() == {(AlertKind.SWEEP_UNFINISHED, "relay")}
    sweep_runs.end("relay", moved=0, failed=0)
    overdue.look()
    assert _open() == set()


def test_a_sweep_whose_messages_do_not_come_is_an_alert() -> None:
    _all_ran()
    _ran("dead_letters", ago=4 * _MINUTE)
    overdue.look()
    assert _open() == {(AlertKind.SWEEP_LATE, "dead_letters")}


def test_a_dead_beat_is_one_alert_and_not_one_for_each_sweep() -> None:
    for name in SWEEPS:
        _ran(name, ago=5 * _MINUTE)
    overdue.look()
    assert _open() == {(AlertKind.BEAT_DEAD, BEAT)}


def test_the_web_process_sends_notices_while_no_sweep_runs(monkeypatch: pytest.MonkeyPatch) -> None:
    runs: list[int] = []
    done = threading.Event()

    def work_off(*, now: dt.datetime, limit: int) -> int:
        del now
        runs.append(limit)
        done.set()
        return 0

    monkeypatch.setattr(notices, "work_off", work_off)
    _all_ran()
    overdue.look()
    assert not runs
    SweepRun.objects.update(started_at=clock.now() - _MINUTE)
    overdue.look()
    assert done.wait(10)
    assert runs == [SWEEPS["alert_notices"].limit]
