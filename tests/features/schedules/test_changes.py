"""Changes of schedules beside occurrences that are sent at the same time."""

from __future__ import annotations

import datetime as dt
from typing import Any

import pytest

from notifications.core import clock
from notifications.core.intake.accept import Caller
from notifications.core.models import Delivery, Occurrence, Schedule
from notifications.core.rules.states import Status
from notifications.features.schedules import changes, sweep

_SECOND = dt.timedelta(seconds=1)


def _made(caller: Caller, name: str) -> Schedule:
    asked = {
        "user_id": "maria",
        "type": "LIKE",
        "channels": ["email"],
        "template_id": "like",
        "variables": {"name": "Ana"},
    }
    every_hour: dict[str, Any] = {"rrule": "FREQ=HOURLY;BYMINUTE=0", "starts_at": clock.now()}
    return changes.create(caller, {"name": name, "request": asked, **every_hour})


@pytest.mark.usefixtures("maria")
def test_an_occurrence_that_is_sent_during_the_change_of_another_schedule_is_not_made_again(
    caller: Caller, monkeypatch: pytest.MonkeyPatch
) -> None:
    one, another = _made(caller, "one"), _made(caller, "another")
    sweep.run_once(now=clock.now(), limit=50)
    first = Occurrence.objects.filter(schedule=another).order_by("at")[0]
    time = first.at - _SECOND
    save = changes._save

    def save_and_send(schedule: Schedule, *, now: dt.datetime) -> None:
        nonlocal time
        save(schedule, now=now)
        if schedule.pk == one.pk:
            due = Delivery.objects.filter(due_at=first.at, status=Status.SCHEDULED)
            assert due.update(status=Status.SENT, due_at=None) == 1
            time = first.at + _SECOND

    monkeypatch.setattr(changes, "_save", save_and_send)
    monkeypatch.setattr(clock, "now", lambda: time)
    changes.set_paused([one, another], to=False)
    sweep.run_once(now=time, limit=50)
    made = Occurrence.objects.filter(schedule=another, at=first.at)
    assert made.get().notification_id == first.notification_id
