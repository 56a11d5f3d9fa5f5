"""What a person wishes is understood as it was meant, or refused with the place that is wrong."""

from __future__ import annotations

from typing import Any

import pytest
from django.test import Client

from notifications.core.feedback import preference_changes
from notifications.core.feedback.preference_changes import PreferenceChange
from notifications.core.models import NotificationType, Preference, Recipient
from notifications.core.rules.lane import Mode
from notifications.core.rules.preferences import Cell, CellChange
from notifications.core.store.cached import notification_types
from providers.contract import Channel
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


SOCIAL_BY_MAIL = {"topic": "social", "channel": "email", "on": False}


@pytest.fixture
def types(db: None) -> None:  # noqa: ARG001 - pytest-django asks for it by name
    """Types of which one is mandatory."""
    for name, priority, category in (("OTP", 0, "security"), ("LIKE", 2, "social")):
        NotificationType.objects.create(name=name, priority=priority, category=category)
    NotificationType.objects.create(name="INVOICE", priority=1, category="x", is_mandatory=True)
    notification_types.forget()


@pytest.mark.usefixtures("maria", "types")
def test_a_topic_is_switched_off_on_one_channel_and_on_again(caller: Caller) -> None:
    told = caller.send("PATCH", WISHES, {"choices": [SOCIAL_BY_MAIL]}).json()
    assert told["topics_off"] == {"email": ["social"]}
    [social] = [each for each in told["topics"] if each["topic"] == "social"]
    on = {cell["channel"]: cell["on"] for cell in social["cells"]}
    assert on == {"sms": True, "email": False, "in_app": True}
    [like] = social["types"]
    assert {cell["locked"] for cell in like["cells"]} == {"", "category_off"}
    told = caller.send("PATCH", WISHES, {"choices": [SOCIAL_BY_MAIL | {"on": True}]}).json()
    assert told["topics_off"] == {}
    told = caller.send("PATCH", WISHES, {"topics_off": {"sms": ["LIKE"], "email": []}}).json()
    assert told["topics_off"] == {"sms": ["LIKE"]}
    assert caller.send("PUT", WISHES, {}).json()["topics_off"] == {}


@pytest.mark.usefixtures("maria", "types")
@pytest.mark.parametrize("topic", ["OTP", "security", "INVOICE"])
def test_a_mandatory_topic_is_not_switched_off(caller: Caller, topic: str) -> None:
    for body in (
        {"choices": [{"topic": topic, "channel": "email", "on": False}]},
        {"categories_off": [topic]},
        {"topics_off": {"email": [topic]}},
    ):
        answer = caller.send("PATCH", WISHES, body)
        assert answer.status_code == 422
        assert answer.json()["errors"][0]["pointer"] == f"/{next(iter(body))}"
    assert not Preference.objects.exists()
    whole = {"choices": [{"channel": "email", "on": False}]}
    assert caller.send("PATCH", WISHES, whole).json()["channels_off"] == ["email"]


@pytest.mark.usefixtures("types")
def test_a_key_does_not_switch_on_what_the_recipient_switched_off(
    caller: Caller, maria: Recipient
) -> None:
    choices = [
        CellChange(Cell("social", Channel.EMAIL), on=False),
        CellChange(Cell("", Channel.SMS), on=False),
    ]
    wanted = PreferenceChange(choices=choices)
    preference_changes.change(maria, wanted, by="the recipient", by_recipient=True)
    refused: list[dict[str, Any]] = [
        {"choices": [SOCIAL_BY_MAIL | {"on": True}]},
        {"topics_off": {}},
        {"channels_off": []},
    ]
    for body in refused:
        answer = caller.send("PATCH", WISHES, body)
        assert answer.status_code == 409, body
        assert answer.json()["errors"][0]["pointer"] == f"/{next(iter(body))}"
    stricter = caller.send("PATCH", WISHES, {"choices": [{"topic": "social", "on": False}]}).json()
    assert (stricter["categories_off"], stricter["topics_off"]) == (["social"], {})
    assert caller.send("PATCH", WISHES, {"categories_off": []}).status_code == 409
    back = PreferenceChange(choices=[CellChange(each.cell, on=True) for each in choices])
    preference_changes.change(maria, back, by="the recipient", by_recipient=True)
    told = caller.get(WISHES).json()
    # The producer switched the category off on each channel, and the recipient one of these on.
    assert "social" not in told["topics_off"].get("email", [])
    assert (told["channels_off"], told["channels_left"], told["topics_left"]) == ([], [], {})


@pytest.mark.usefixtures("types")
def test_locale_and_timezone_change_with_the_preferences_and_are_audited(
    caller: Caller, maria: Recipient
) -> None:
    told = caller.send("PATCH", WISHES, {"locale": "ar", "timezone": "Africa/Cairo"}).json()
    assert (told["locale"], told["timezone"], told["language"]) == ("ar", "Africa/Cairo", "ar")
    maria.refresh_from_db()
    assert (maria.locale, maria.timezone) == ("ar", "Africa/Cairo")
    changes = caller.get(f"{PATH}/changes").json()["results"]
    assert changes[0]["operation"] == "change_preferences"
    assert caller.send("PUT", WISHES, {}).json()["locale"] == "ar"
    assert caller.send("PATCH", WISHES, {"timezone": "Mars/Olympus"}).status_code == 422


@pytest.mark.usefixtures("maria", "types")
@pytest.mark.parametrize(
    ("asked", "language"), [("de-AT", "de"), ("fr", "fr"), ("pt", "pt-BR"), ("ja", "pt-BR")]
)
def test_names_are_in_the_asked_language(caller: Caller, asked: str, language: str) -> None:
    told = caller.get(WISHES, language=asked).json()
    assert told["language"] == language
    assert caller.get(WISHES, language="klingon!").status_code == 422


@pytest.mark.usefixtures("maria")
@pytest.mark.parametrize(
    ("body", "pointer"),
    [
        ({"choices": [{"on": True}]}, "/choices/0/topic"),
        ({"choices": [{"topic": "a b", "on": True}]}, "/choices/0/topic"),
        ({"choices": [{"topic": "social", "channel": "pigeon", "on": 1}]}, "/choices/0/channel"),
        ({"topics_off": {"pigeon": ["social"]}}, "/topics_off"),
    ],
)
def test_a_choice_that_makes_no_sense_is_refused(
    caller: Caller, body: dict[str, Any], pointer: str
) -> None:
    answer = caller.send("PATCH", WISHES, body)
    assert answer.status_code == 422
    assert answer.json()["errors"][0]["pointer"].startswith(pointer)
    assert not Preference.objects.exists()


def _token_client(caller: Caller, *scopes: str) -> Client:
    answer = caller.post(f"{PATH}/client-tokens", {"scopes": list(scopes)})
    return Client(headers={"Authorization": f"Bearer {answer.json()['token']}"})


@pytest.mark.usefixtures("maria", "types")
def test_a_recipient_token_changes_its_own_preferences(caller: Caller) -> None:
    own = _token_client(caller, "preferences:read", "preferences:write")
    me = "/v1/recipients/me/preferences"
    body = {"choices": [SOCIAL_BY_MAIL, {"channel": "sms", "on": False}]}
    answer = own.patch(me, body, content_type="application/json")
    assert answer.status_code == 200, answer.content
    told = own.get(me, {"language": "fr"}).json()
    assert (told["channels_left"], told["topics_left"]) == (["sms"], {"email": ["social"]})
    assert told["language"] == "fr"
    [change] = caller.get(f"{PATH}/changes").json()["results"][:1]
    assert change["by"].startswith("recipient ")
    assert caller.send("PATCH", WISHES, {"channels_off": []}).status_code == 409
    back = {"choices": [SOCIAL_BY_MAIL | {"on": True}], "channels_off": []}
    told = own.patch(me, back, content_type="application/json").json()
    assert (told["channels_off"], told["channels_left"], told["topics_left"]) == ([], [], {})


@pytest.mark.usefixtures("maria", "types")
def test_a_recipient_token_fills_the_preferences_with_no_names_of_its_own(caller: Caller) -> None:
    own = _token_client(caller, "preferences:write")

    def switch(first: int, last: int, *, on: bool = False) -> int:
        choices = [{"topic": f"T{each}", "on": on} for each in range(first, last)]
        body = {"choices": [SOCIAL_BY_MAIL, *choices]}
        return own.patch(WISHES, body, content_type="application/json").status_code

    assert [switch(0, 60), switch(60, 100), switch(100, 101)] == [200, 200, 422]
    assert len(Preference.objects.get().categories_off) == 100
    # A recipient from before the limit: everything else can be changed.
    Preference.objects.update(categories_off=[f"T{each}" for each in range(300)])
    assert [switch(0, 50, on=True), switch(299, 301), switch(0, 1)] == [200, 422, 422]


@pytest.mark.usefixtures("maria", "types")
def test_a_recipient_token_needs_the_scope(caller: Caller) -> None:
    reader = _token_client(caller, "preferences:read")
    assert reader.get(WISHES).status_code == 200
    answer = reader.patch(WISHES, {"channels_off": ["sms"]}, content_type="application/json")
    assert answer.status_code == 403
    assert reader.put(WISHES, {}, content_type="application/json").status_code == 403
    assert _token_client(caller, "inbox:read").get(WISHES).status_code == 403
    assert not Preference.objects.exists()


@pytest.mark.usefixtures("maria")
def test_a_digest_is_chosen_for_a_topic_and_other_topics_keep_theirs(caller: Caller) -> None:
    likes = {"priority": 2, "category": "social"}
    NotificationType.objects.create(name="LIKE", digest_template="likes", **likes)
    NotificationType.objects.create(name="FOLLOW", **likes)
    NotificationType.objects.create(name="SALE", priority=3, digest_template="sales")
    notification_types.forget()
    caller.send("PATCH", WISHES, {"digests": {"social": "weekly"}})
    told = caller.send("PATCH", WISHES, {"digests": {"SALE": "daily"}}).json()
    assert told["digests"] == {"social": "weekly", "SALE": "daily"}
    social, sale = told["topics"]
    assert (social["digest"], sale["digest"]) == ("weekly", "daily")
    assert {each["topic"]: each["digest"] for each in social["types"]} == {
        "LIKE": "weekly",
        "FOLLOW": None,
    }
    back = caller.send("PATCH", WISHES, {"digests": {"social": "at_once"}}).json()
    assert back["topics"][0]["digest"] == "at_once"
    assert caller.send("PUT", WISHES, {"digests": {"SALE": "weekly"}}).json()["digests"] == {
        "SALE": "weekly"
    }
    assert caller.send("PUT", WISHES, {}).json()["digests"] == {}


@pytest.mark.usefixtures("maria")
@pytest.mark.parametrize(
    ("digests", "pointer"),
    [({"social": "hourly"}, "/digests/social"), ({"social": "daily"}, "/digests")],
)
def test_a_digest_that_no_topic_offers_is_refused(
    caller: Caller, digests: dict[str, str], pointer: str
) -> None:
    answer = caller.send("PATCH", WISHES, {"digests": digests})
    assert answer.status_code == 422, answer.content
    assert [each["pointer"] for each in answer.json()["errors"]] == [pointer]
    assert not Preference.objects.exists()
