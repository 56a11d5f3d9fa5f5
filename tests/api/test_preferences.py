"""What a person wishes is understood as it was meant, or refused with the place that is wrong."""

from __future__ import annotations

from typing import Any

import pytest

from notifications.models import Preference, Recipient
from notifications.rules.lane import Mode
from tests.api.conftest import Caller, MakeCaller

PATH = "/v1/recipients/maria"
WISHES = f"{PATH}/preferences"
NIGHT = {"start": "22:00", "end": "07:00", "days": ["fri", "sat"], "channels": ["push"]}


@pytest.mark.usefixtures("maria")
def test_quiet_hours_come_back_as_they_were_given(caller: Caller) -> None:
    every_day = {"start": "12:00", "end": "13:00", "days": [], "channels": []}
    told = caller.send(
        "PATCH", WISHES, {"quiet_hours": [NIGHT, {"start": "12:00", "end": "13:00"}]}
    )
    assert told.status_code == 200, told.content
    assert told.json()["quiet_hours"] == [NIGHT, every_day]
    assert caller.get(WISHES).json() == told.json()
    assert caller.send("PATCH", WISHES, {"quiet_hours": []}).json()["quiet_hours"] == []


@pytest.mark.usefixtures("maria")
def test_do_not_disturb_is_set_kept_and_ended(caller: Caller) -> None:
    until = {"do_not_disturb_until": "2030-01-01T07:00:00+01:00"}
    told = caller.send("PATCH", WISHES, until).json()
    assert told["do_not_disturb_until"] == "2030-01-01T06:00:00Z"
    kept = caller.send("PATCH", WISHES, {"channels_off": ["sms"], "quiet_hours": None}).json()
    assert kept["do_not_disturb_until"] == told["do_not_disturb_until"]
    ended = caller.send("PATCH", WISHES, {"do_not_disturb_until": None}).json()
    assert ended["do_not_disturb_until"] is None


@pytest.mark.usefixtures("maria")
@pytest.mark.parametrize(
    ("wish", "pointer"),
    [
        ({"quiet_hours": [{"start": "22:00"}]}, "/quiet_hours/0/end"),
        ({"quiet_hours": [NIGHT, NIGHT | {"end": "7 am"}]}, "/quiet_hours/1/end"),
        ({"quiet_hours": [NIGHT | {"days": ["fri", "noday"]}]}, "/quiet_hours/0/days/1"),
        ({"quiet_hours": [NIGHT | {"channels": ["pigeon"]}]}, "/quiet_hours/0/channels/0"),
        ({"quiet_hours": [NIGHT | {"zone": "UTC"}]}, "/quiet_hours/0/zone"),
        ({"quiet_hours": [NIGHT] * 51}, "/quiet_hours"),
        ({"quiet_hours": [{"start": "09:00", "end": "09:00"}]}, "/quiet_hours"),
        ({"do_not_disturb_until": "2030-01-01T07:00:00"}, "/do_not_disturb_until"),
        ({"channels_off": ["pigeon"]}, "/channels_off/0"),
        ({"channels_off": [1]}, "/channels_off/0"),
        ({"do_not_disturb_until": 1}, "/do_not_disturb_until"),
    ],
)
def test_a_wish_that_makes_no_sense_is_refused_at_its_place(
    caller: Caller, wish: dict[str, Any], pointer: str
) -> None:
    answer = caller.send("PATCH", WISHES, wish)
    assert answer.status_code == 422
    assert [each["pointer"] for each in answer.json()["errors"]] == [pointer]
    assert not Preference.objects.exists()


def _sms(caller: Caller, *numbers: str) -> Recipient:
    contacts = [{"channel": "sms", "address": number} for number in numbers]
    answer = caller.send("PUT", PATH, {"contacts": contacts})
    assert answer.status_code in {200, 201}, answer.content
    return Recipient.objects.get(user_id="maria", mode=caller.mode)


def test_a_number_is_stored_in_its_one_spelling(caller: Caller) -> None:
    person = _sms(caller, "+49 (151) 123-45678")
    assert person.contacts.get().address == "+4915112345678"
    _sms(caller, "+4915112345678")
    assert person.contacts.get().invalidated_at is None


def test_the_primary_number_tells_a_timezone_until_it_is_taken_away(caller: Caller) -> None:
    assert _sms(caller, "+4915112345678").phone_timezone == "Europe/Berlin"
    moved = _sms(caller, "+5511912345678")
    assert moved.phone_timezone == "America/Sao_Paulo"
    assert caller.get(PATH).json()["timezone"] == ""
    assert _sms(caller).phone_timezone == ""
    added = caller.post(f"{PATH}/contacts", {"channel": "sms", "address": "+12125551234"}).json()
    moved.refresh_from_db()
    assert moved.phone_timezone == "America/New_York"
    caller.send("DELETE", f"{PATH}/contacts/{added['id']}")
    moved.refresh_from_db()
    assert moved.phone_timezone == ""


def test_the_numbers_that_steer_the_sandbox_are_numbers(make_caller: MakeCaller) -> None:
    tester = make_caller(mode=Mode.TEST)
    person = _sms(tester, "+1-555-0000", "+1 555 503 2000")
    stored = person.contacts.order_by("pk").values_list("address", flat=True)
    assert list(stored) == ["+15550000", "+15555032000"]


@pytest.mark.usefixtures("maria")
@pytest.mark.parametrize("field", ["channels_off", "channel_order", "categories_off"])
def test_what_is_named_twice_is_kept_once(caller: Caller, field: str) -> None:
    told = caller.send("PATCH", WISHES, {field: ["sms", "push", "sms"]})
    assert told.json()[field] == ["sms", "push"]


@pytest.mark.parametrize("name", ["localtime", "Factory"])
def test_a_zone_of_no_place_is_refused(caller: Caller, name: str) -> None:
    refused = caller.send("PUT", PATH, {"timezone": name})
    assert (refused.status_code, refused.json()["errors"][0]["pointer"]) == (422, "/timezone")


@pytest.mark.usefixtures("maria")
@pytest.mark.parametrize(
    ("wrong", "pointer"),
    [({"channel": "sms", "address": "0151 12345"}, "/address"), ({"channel": "fax"}, "/channel")],
)
def test_a_wrong_contact_is_pointed_at(caller: Caller, wrong: dict[str, str], pointer: str) -> None:
    refused = caller.post(f"{PATH}/contacts", {"address": "a", **wrong})
    assert [error["pointer"] for error in refused.json()["errors"]] == [pointer]
