"""Recurring notifications over HTTP."""

from __future__ import annotations

import datetime as dt

import pytest

from notifications.core import clock
from notifications.core.models import LaneLag, Occurrence, Recipient
from notifications.core.rules.lane import Mode, Priority
from notifications.features.back_pressure import refusals
from providers.contract import Channel
from tests.api.conftest import Caller, MakeCaller

PATH = "/v1/schedules"
MESSAGE = {
    "user_id": "maria",
    "type": "DIGEST",
    "priority": "P3",
    "content": {"body": "Hello"},
    "channels": ["email"],
}
WANTED = {"name": "digest", "rrule": "FREQ=DAILY;BYHOUR=9;BYMINUTE=0", "notification": MESSAGE}


@pytest.fixture(autouse=True)
def _known(maria: Recipient) -> None:
    assert maria.timezone == "America/Sao_Paulo"


def test_a_schedule_is_made_read_changed_and_ended(caller: Caller) -> None:
    made = caller.post(PATH, WANTED)
    assert made.status_code == 201, made.content
    told = made.json()
    next_at = dt.datetime.fromisoformat(told["next_at"])
    assert (next_at.hour, told["timezone"], told["notification"]) == (12, None, MESSAGE)
    one = f"{PATH}/{told['id']}"
    assert caller.get(one).json() == told
    assert caller.get(PATH).json() == {"results": [told], "next": None}
    changed = caller.send("PATCH", one, {"timezone": "UTC", "name": "nine"}).json()
    assert dt.datetime.fromisoformat(changed["next_at"]).hour == 9
    assert caller.send("PATCH", one, {"timezone": None}).json()["timezone"] is None
    assert caller.send("PATCH", one, {"paused": True}).json()["next_at"] is None
    assert caller.send("DELETE", one).status_code == 204
    assert caller.get(one).status_code == 404


def test_a_schedule_is_made_while_its_lane_refuses_posts(caller: Caller) -> None:
    LaneLag.objects.create(
        mode=Mode.LIVE,
        priority=Priority.P3,
        channel=Channel.EMAIL,
        sampled_at=clock.now(),
        refuses_since=clock.now(),
        retry_after_seconds=60,
    )
    refusals.forget()
    refused = caller.post("/v1/notifications", MESSAGE)
    assert refused.status_code == 429, refused.content
    made = caller.post(PATH, WANTED)
    assert made.status_code == 201, made.content


def test_a_name_is_used_once(caller: Caller) -> None:
    caller.post(PATH, WANTED)
    again = caller.post(PATH, WANTED)
    assert (again.status_code, again.json()["errors"][0]["pointer"]) == (409, "/name")


def test_a_refused_change_withdraws_no_occurrence(caller: Caller) -> None:
    caller.post(PATH, WANTED)
    other = caller.post(PATH, {**WANTED, "name": "other"}).json()
    soon = clock.now() + dt.timedelta(days=1)
    Occurrence.objects.create(
        schedule_id=other["id"], at=soon, local_at=f"{soon:%Y-%m-%dT%H:%M:%S}"
    )
    changed = caller.send("PATCH", f"{PATH}/{other['id']}", {"name": WANTED["name"]})
    assert changed.status_code == 409
    assert Occurrence.objects.count() == 1


def test_nobody_elses_schedule_can_be_touched(caller: Caller, make_caller: MakeCaller) -> None:
    one = f"{PATH}/{caller.post(PATH, WANTED).json()['id']}"
    stranger = make_caller("stranger")
    told = [stranger.get(one), stranger.send("PATCH", one, {}), stranger.send("DELETE", one)]
    assert [each.status_code for each in told] == [404] * 3


@pytest.mark.parametrize(
    ("wrong", "pointer"),
    [
        ({"rrule": "FREQ=SECONDLY"}, "/rrule"),
        ({"rrule": "FREQ=MINUTELY;BYMONTHDAY=31;BYMONTH=2"}, "/rrule"),
        ({"rrule": "FREQ=MONTHLY;BYDAY=5MO;BYMONTHDAY=1"}, "/rrule"),
        ({"rrule": "FREQ=DAILY;BYHOUR=\u0661"}, "/rrule"),
        ({"timezone": "Mars/Base"}, "/timezone"),
        ({"notification": {**MESSAGE, "scheduled_at": "2030-01-01T00:00:00Z"}}, "/notification"),
        ({"notification": {**MESSAGE, "user_id": "nobody"}}, "/notification/user_id"),
    ],
)
def test_what_is_wrong_is_pointed_at(
    caller: Caller, wrong: dict[str, object], pointer: str
) -> None:
    answer = caller.post(PATH, {**WANTED, **wrong})
    assert (answer.status_code, answer.json()["errors"][0]["pointer"]) == (422, pointer)
