"""What recurs can be seen, paused and resumed."""

from __future__ import annotations

import pytest
from django.contrib.auth.models import User
from django.db import connection
from django.test import Client
from django.test.utils import CaptureQueriesContext
from django.urls import reverse

from notifications.core import clock
from notifications.core.intake.validation import Caller
from notifications.core.models import Producer, Recipient, Schedule
from notifications.core.rules.lane import Mode, Priority
from notifications.features.schedules import changes

LIST = reverse("admin:notifications_schedule_changelist")


@pytest.fixture
def schedule(maria: Recipient, operator: User) -> Schedule:
    assert operator.is_staff
    producer = Producer.objects.create(name="digests", may_send_content=True)
    caller = Caller(
        producer_id=producer.pk,
        mode=Mode.LIVE,
        priorities=frozenset(Priority),
        may_send_content=True,
    )
    asked = {"user_id": maria.user_id, "type": "DIGEST", "priority": "P3"}
    return changes.create(
        caller,
        {
            "name": "weekly",
            "rrule": "FREQ=WEEKLY;BYDAY=MO;BYHOUR=9;BYMINUTE=0",
            "timezone": "Europe/Berlin",
            "starts_at": clock.now(),
            "request": {**asked, "content": {"body": "Hello"}, "channels": ["email"]},
        },
    )


def _act(client: Client, action: str, schedule: Schedule) -> None:
    client.post(LIST, {"action": action, "_selected_action": [schedule.pk]})
    schedule.refresh_from_db()


def test_a_schedule_shows_when_it_comes(door: Client, schedule: Schedule) -> None:
    assert "FREQ=WEEKLY" in door.get(LIST).content.decode()
    page = door.get(reverse("admin:notifications_schedule_change", args=[schedule.pk]))
    assert page.content.decode().count("<div>Mon ") == 10
    assert page.content.decode().count("UTC, Mon 09:00 there") == 10


def test_an_operator_pauses_and_resumes(door: Client, schedule: Schedule) -> None:
    _act(door, "pause", schedule)
    assert (schedule.paused, schedule.due_at) == (True, None)
    _act(door, "resume", schedule)
    assert not schedule.paused
    assert schedule.due_at is not None


def test_its_page_pauses_it_but_no_link_does(
    door: Client, window: Client, schedule: Schedule
) -> None:
    own = reverse("admin:notifications_schedule_change", args=[schedule.pk])
    pause, resume = (
        reverse(f"admin:notifications_schedule_{verb}_one", args=[schedule.pk])
        for verb in ("pause", "resume")
    )
    shown = door.get(own).content.decode()
    assert (pause in shown, resume in shown) == (True, False)
    assert "Pause: weekly" in door.get(pause).content.decode()
    assert window.post(pause).status_code == 403
    schedule.refresh_from_db()
    assert not schedule.paused
    door.post(pause)
    schedule.refresh_from_db()
    assert schedule.paused
    shown = door.get(own).content.decode()
    assert (pause in shown, resume in shown) == (False, True)
    door.post(resume)
    schedule.refresh_from_db()
    assert not schedule.paused


def test_more_schedules_cost_no_more_queries(door: Client, schedule: Schedule) -> None:
    with CaptureQueriesContext(connection) as one:
        door.get(LIST)
    for name in ("a", "b", "c"):
        schedule.pk, schedule.name = None, name
        schedule.save()
    with CaptureQueriesContext(connection) as four:
        assert door.get(LIST).content.decode().count("FREQ=WEEKLY") == 4
    assert len(four) == len(one)


def test_who_may_only_look_pauses_nothing(window: Client, schedule: Schedule) -> None:
    assert window.get(LIST).status_code == 200
    _act(window, "pause", schedule)
    assert not schedule.paused
