"""An operator changes an interval, or switches a task off after reading what stops."""

from __future__ import annotations

import datetime as dt
from dataclasses import replace

import pytest
from django.db import connection
from django.test import Client
from django.test.utils import CaptureQueriesContext
from django.urls import reverse
from django_celery_beat.models import PeriodicTask

from notifications.core import clock, conf, sweeps
from notifications.core.models import SweepRun
from notifications.core.store.postgres import periodic_tasks
from notifications.core.sweeps import SWEEPS

_LIST = "admin:django_celery_beat_periodictask_changelist"


@pytest.fixture
def relay(db: None) -> PeriodicTask:  # noqa: ARG001 - asked for by name
    sweeps.create_periodic_tasks()
    return PeriodicTask.objects.get(name="relay")


def _page(task: PeriodicTask) -> str:
    return reverse("admin:django_celery_beat_periodictask_change", args=[task.pk])


def test_the_list_shows_every_sweep_with_its_last_run_and_result(
    door: Client, relay: PeriodicTask
) -> None:
    began = clock.now()
    ended = began + dt.timedelta(seconds=1)
    SweepRun.objects.create(name="relay", started_at=began, finished_at=ended, moved=41)
    shown = door.get(reverse(_LIST)).content.decode()
    assert "41 moved, 0 failed" in shown
    assert "1.00 s" in shown
    assert "1 s, 10 s without work" in shown
    assert all(name in shown for name in SWEEPS)
    assert SWEEPS[relay.name].stops in shown
    assert reverse(_LIST) in door.get(reverse("admin:index")).content.decode()


def test_the_list_reads_all_runs_at_once(door: Client, relay: PeriodicTask) -> None:
    assert relay.pk
    with CaptureQueriesContext(connection) as queries:
        door.get(reverse(_LIST))
    assert sum("notifications_sweeprun" in query["sql"] for query in queries) == 1


@pytest.mark.django_db
def test_schedules_of_other_kinds_have_no_page(door: Client) -> None:
    for name in ("clockedschedule", "crontabschedule", "intervalschedule", "solarschedule"):
        assert door.get(f"/admin/django_celery_beat/{name}/").status_code == 404


def test_switching_off_asks_first_and_says_what_stops(door: Client, relay: PeriodicTask) -> None:
    answer = door.post(_page(relay), {"seconds": "1"})
    assert SWEEPS["relay"].stops in answer.content.decode()
    relay.refresh_from_db()
    assert relay.enabled
    door.post(_page(relay), {"seconds": "1", "confirmed": "on"})
    relay.refresh_from_db()
    assert not relay.enabled
    door.post(_page(relay), {"seconds": "1", "enabled": "on"})
    relay.refresh_from_db()
    assert relay.enabled


def test_an_interval_is_changed_and_kept_by_the_next_migrate(
    door: Client, relay: PeriodicTask
) -> None:
    door.post(_page(relay), {"seconds": "4", "enabled": "on"})
    sweeps.create_periodic_tasks()
    assert periodic_tasks.rhythms()["relay"].every == dt.timedelta(seconds=4)
    assert b"greater than or equal to 1" in door.post(_page(relay), {"seconds": "0"}).content


def test_a_batch_is_changed_from_a_tenth_to_ten_times_the_sweeps_own(
    door: Client, relay: PeriodicTask
) -> None:
    least, most = SWEEPS["relay"].limit // 10, 10 * SWEEPS["relay"].limit
    for given, kept in ((str(least), least), (str(most), most), ("", None)):
        door.post(_page(relay), {"seconds": "1", "enabled": "on", "limit": given})
        sweeps.create_periodic_tasks()
        assert periodic_tasks.rhythms()["relay"].limit == kept
    for given in ("0", str(least - 1), str(most + 1), "many"):
        answer = door.post(_page(relay), {"seconds": "1", "enabled": "on", "limit": given})
        assert answer.status_code == 200, given
        assert periodic_tasks.rhythms()["relay"].limit is None
    assert f">{SWEEPS['relay'].limit}<" in door.get(reverse(_LIST)).content.decode()


def test_who_may_only_view_changes_nothing(window: Client, relay: PeriodicTask) -> None:
    window.post(_page(relay), {"seconds": "4", "confirmed": "on"})
    relay.refresh_from_db()
    assert relay.enabled


def test_flower_is_in_the_menu_where_it_has_an_address(
    door: Client, monkeypatch: pytest.MonkeyPatch
) -> None:
    address = "https://flower.example.com"
    assert address not in door.get(reverse("admin:index")).content.decode()
    configured = replace(conf.current(), flower_url=address)
    monkeypatch.setattr(conf, "current", lambda: configured)
    assert address in door.get(reverse("admin:index")).content.decode()
