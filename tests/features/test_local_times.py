"""Times on the recipient's wall clock, and another time for what has not left."""

from __future__ import annotations

import datetime as dt
from typing import Any
from uuid import UUID
from zoneinfo import ZoneInfo

import pytest

from notifications.core import clock
from notifications.core.intake.accept import AcceptedRequest, Caller, Refused
from notifications.core.models import Delivery, Event, Notification, Preference, Recipient
from notifications.core.rules.lane import DEFAULT_TIME_TO_LIVE, Mode, Priority
from notifications.core.rules.problems import Kind, Problem
from notifications.core.rules.states import Status
from notifications.core.rules.times.local_time import When
from notifications.core.scheduling import cancel, release, reschedule
from tests.journey import Accept, Reach, deliveries_of

HOUR = dt.timedelta(hours=1)
Row = dict[str, Any]


@pytest.fixture
def maria(reach: Reach) -> Recipient:
    person = reach(email="maria@sandbox.example")
    person.timezone = "Europe/Berlin"
    person.save()
    return person


def _asked(delivery: Delivery) -> Notification:
    return Notification.objects.get(id=delivery.notification_id)


def _time_of(asked: Notification) -> dt.datetime:
    assert asked.scheduled_at is not None
    return asked.scheduled_at


def _release(delivery: Delivery) -> None:
    Delivery.objects.filter(id=delivery.id).update(due_at=clock.now() - HOUR)
    row: Row = dict(Delivery.objects.filter(id=delivery.id).values().get())
    release.resolve([row])
    delivery.refresh_from_db()


def _pass_by(delivery: Delivery) -> dt.datetime:
    """As if it had been asked for a day earlier, so that its time is over; returns that time."""
    asked = _asked(delivery)
    local = dt.datetime.fromisoformat(asked.local_at) - dt.timedelta(days=1)
    when = When.by_wall_clock(local, asked.local_zone)
    asked.scheduled_at, asked.local_at = when.at, when.local
    asked.save()
    return when.at


def told(answer: AcceptedRequest | Refused) -> dict[str, object]:
    """What the answer says of the time."""
    assert isinstance(answer, AcceptedRequest)
    said = ("scheduled_at", "timezone", "timezone_known")
    return {name: answer.response[name] for name in said if name in answer.response}


def _move(caller: Caller, notification: UUID, **when: object) -> Problem | None:
    times: dict[str, Any] = {"scheduled_at": None, "send_at_local": None, **when}
    return reschedule.reschedule(
        notification, producer_id=caller.producer_id, mode=Mode.LIVE, **times
    )


def test_it_waits_for_the_next_such_time_where_the_recipient_is(
    maria: Recipient, take: Accept
) -> None:
    [row] = deliveries_of(take(send_at_local="09:00"))
    asked = _asked(row)
    local = _time_of(asked).astimezone(ZoneInfo(maria.timezone))
    assert (local.hour, local.minute) == (9, 0)
    assert dt.timedelta(0) < _time_of(asked) - clock.now() <= 25 * HOUR
    assert asked.expires_at - _time_of(asked) == DEFAULT_TIME_TO_LIVE[Priority.P2]
    assert (row.status, row.due_at) == (Status.SCHEDULED, _time_of(asked))
    assert (asked.local_at[11:], asked.local_zone) == ("09:00", "Europe/Berlin")


def test_without_a_zone_the_clock_hangs_in_utc_and_the_answer_says_so(
    maria: Recipient, take: Accept
) -> None:
    maria.timezone = ""
    maria.save()
    answer = take(send_at_local="09:00")
    [row] = deliveries_of(answer)
    assert row.due_at is not None
    assert (row.due_at.hour, row.due_at.minute) == (9, 0)
    assert told(answer) == {
        "scheduled_at": row.due_at.isoformat().replace("+00:00", "Z"),
        "timezone": "UTC",
        "timezone_known": False,
    }


def test_the_answer_names_the_zone_that_was_taken(maria: Recipient, take: Accept) -> None:
    local = told(take(send_at_local="09:00"))
    assert (local["timezone"], local["timezone_known"]) == (maria.timezone, True)
    assert told(take()) == {}


@pytest.mark.usefixtures("maria")
def test_an_instant_needs_no_zone(take: Accept) -> None:
    at = (clock.now() + HOUR).replace(microsecond=0).isoformat().replace("+00:00", "Z")
    assert told(take(scheduled_at=at)) == {"scheduled_at": at}


def test_who_moved_west_gets_it_when_it_is_that_time_there(maria: Recipient, take: Accept) -> None:
    [row] = deliveries_of(take(send_at_local="09:00"))
    before = _asked(row)
    maria.timezone = "Pacific/Honolulu"
    maria.save()
    _release(row)
    after = _asked(row)
    assert row.status == Status.SCHEDULED
    assert row.due_at == _time_of(after) > _time_of(before)
    assert after.local_zone == "Pacific/Honolulu"
    assert after.expires_at - _time_of(after) == before.expires_at - _time_of(before)
    assert Event.objects.filter(delivery_id=row.id, reason="rescheduled").count() == 1


def test_a_type_switched_off_while_it_waited_counts_at_the_release(
    maria: Recipient, take: Accept
) -> None:
    [row] = deliveries_of(take(send_at_local="09:00"))
    Preference.objects.create(recipient=maria, categories_off=["LIKE"])
    _release(row)
    assert (row.status, row.reason) == (Status.SUPPRESSED, "opted_out")


def test_who_moved_east_gets_it_late_and_the_timeline_says_so(
    maria: Recipient, take: Accept
) -> None:
    [row] = deliveries_of(take(send_at_local="09:00"))
    maria.timezone = "Asia/Tokyo"
    maria.save()
    at = _pass_by(row)
    _release(row)
    assert (row.status, _asked(row).scheduled_at) == (Status.QUEUED, at)
    [event] = Event.objects.filter(delivery_id=row.id, reason="released")
    assert event.detail in {
        f"{hours} h late: the recipient's clock is that of Asia/Tokyo by now" for hours in (7, 8)
    }


def test_who_moved_to_where_it_is_the_same_time_is_not_late(maria: Recipient, take: Accept) -> None:
    [row] = deliveries_of(take(send_at_local="09:00"))
    maria.timezone = "Europe/Paris"
    maria.save()
    _pass_by(row)
    _release(row)
    assert [event.detail for event in Event.objects.filter(reason="released")] == [""]


def test_who_stayed_gets_it_then(maria: Recipient, take: Accept) -> None:
    assert maria.timezone
    [row] = deliveries_of(take(send_at_local="09:00"))
    _release(row)
    assert row.status == Status.QUEUED


@pytest.mark.usefixtures("maria")
def test_a_notification_moves_until_it_leaves(take: Accept, caller: Caller) -> None:
    [row] = deliveries_of(take(scheduled_at=(clock.now() + HOUR).isoformat()))
    later = clock.now() + 5 * HOUR
    assert _move(caller, row.notification_id, scheduled_at=later) is None
    row.refresh_from_db()
    assert row.due_at == _asked(row).scheduled_at == later
    assert _move(caller, row.notification_id, send_at_local=dt.time(7)) is None
    _release(row)
    assert row.status == Status.QUEUED
    problem = _move(caller, row.notification_id, scheduled_at=later)
    assert problem is not None
    assert problem.kind is Kind.CONFLICT


@pytest.mark.usefixtures("maria")
def test_what_cannot_move(take: Accept, caller: Caller) -> None:
    [row] = deliveries_of(take(scheduled_at=(clock.now() + HOUR).isoformat()))
    far = _move(caller, row.notification_id, scheduled_at=clock.now() + dt.timedelta(days=70))
    absent = _move(caller, UUID(int=row.notification_id.int + 4096), send_at_local=dt.time(7))
    cancel.cancel(row.notification_id, producer_id=caller.producer_id, mode=Mode.LIVE)
    gone = _move(caller, row.notification_id, scheduled_at=clock.now() + HOUR)
    assert [found and found.kind for found in (far, absent, gone)] == [
        *(Kind.INVALID, Kind.NOT_FOUND, Kind.CONFLICT)
    ]
