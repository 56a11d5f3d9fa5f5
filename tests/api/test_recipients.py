"""Creating and changing whom producers notify."""

from __future__ import annotations

from typing import Any
from urllib.parse import unquote

import pytest

from notifications.core import clock
from notifications.core.models import Contact, Recipient, Suppression
from notifications.core.rules.lane import Mode
from notifications.core.rules.suppression import Cause
from notifications.core.store.postgres import erasure, suppressions
from notifications.core.store.postgres.suppressions import SuppressionEntry
from providers.contract import Channel
from tests.api.conftest import Caller
from tests.interleaving import before

PATH = "/v1/recipients/maria"


def _mail(address: str, **more: object) -> dict[str, object]:
    return {"channel": "email", "address": address, **more}


def _put(caller: Caller, *contacts: dict[str, object]) -> list[dict[str, object]]:
    answer = caller.send("PUT", PATH, {"contacts": list(contacts)})
    assert answer.status_code in {200, 201}, answer.content
    found: list[dict[str, object]] = answer.json()["contacts"]
    return found


def test_putting_creates_and_then_changes(caller: Caller) -> None:
    assert caller.send("PUT", PATH, {"locale": "pt-BR"}).status_code == 201
    assert caller.send("PATCH", PATH, {"timezone": "America/Sao_Paulo"}).status_code == 200
    told = caller.get(PATH).json()
    assert told == {
        "user_id": "maria",
        "locale": "pt-BR",
        "timezone": "America/Sao_Paulo",
        "attributes": {},
        "contacts": [],
    }


@pytest.mark.parametrize(
    "user_id",
    [
        *("maria%20", "%20maria", "mar%E2%80%8Bia", "maria%0A", "%EF%BB%BFmaria", "%2E%2E"),
        # Idle joiners, a blank letter, a selector, and an e with an accent of its own.
        *("maria%E2%80%8D", "mar%E2%80%8Cia", "maria%E3%85%A4", "maria%EF%B8%8F", "jose%CC%81"),
    ],
)
def test_no_new_recipient_looks_like_another(caller: Caller, user_id: str) -> None:
    path = f"/v1/recipients/{user_id}"
    refused = caller.send("PUT", path, {"locale": "pt-BR"})
    assert refused.status_code == 422, refused.content
    assert "the user id of a new recipient must" in refused.json()["detail"]

    Recipient.objects.create(user_id=unquote(user_id))
    assert caller.send("PUT", path, {"locale": "pt-BR"}).status_code == 200


@pytest.mark.parametrize(
    "user_id",
    ["jos%C3%A9", "a%20b", "%F0%9F%91%A9%E2%80%8D%F0%9F%9A%80", "%D9%85%DB%8C%E2%80%8C%D8%AE"],
)
def test_letters_of_any_script_make_a_user_id(caller: Caller, user_id: str) -> None:
    path = f"/v1/recipients/{user_id}"
    assert caller.send("PUT", path, {"locale": "pt-BR"}).status_code == 201


def _erase() -> None:
    assert erasure.begin(mode=Mode.LIVE, user_id="maria", requested_by="other", by="other")


@pytest.mark.django_db(transaction=True)
@pytest.mark.parametrize("times", [1, 2])
def test_a_recipient_whom_others_create_and_erase_meanwhile_is_created(
    caller: Caller, times: int
) -> None:
    def create() -> None:
        Recipient.objects.create(user_id="maria")

    collision = (
        ('INSERT INTO "notifications_recipient"', create),
        ('FROM "notifications_recipient"', _erase),
    )
    with before(*collision * times):
        assert caller.send("PUT", PATH, {"locale": "de"}).status_code == 201
    assert caller.get(PATH).json()["locale"] == "de"


@pytest.mark.django_db(transaction=True)
def test_a_new_contact_is_answered_before_an_erasure(caller: Caller) -> None:
    caller.send("PUT", PATH, {})
    with before(("suppressed_for", _erase)):
        answer = caller.post(f"{PATH}/contacts", _mail("maria@example.com"))
    assert answer.status_code == 201, answer.content
    assert caller.get(PATH).status_code == 404


@pytest.mark.parametrize(
    ("given", "stored"),
    [
        ("pt_br", "pt-BR"),
        ("zh-Hant-TW-u-ca-roc-nu-hanidec", "zh-Hant-TW"),
        ("en_US@calendar=gregorian", "en-US"),
        ("zh_TW_#Hant", "zh-Hant-TW"),
        ("in_ID", "in-ID"),
    ],
)
def test_the_locale_of_a_phone_or_browser_is_stored_in_one_form(
    caller: Caller, given: str, stored: str
) -> None:
    assert caller.send("PUT", PATH, {"locale": given}).status_code == 201
    assert caller.get(PATH).json()["locale"] == stored


def test_the_first_contact_of_a_channel_is_its_primary_one(caller: Caller) -> None:
    told = _put(caller, _mail("a@example.com"), _mail("b@example.com"))
    assert [one["primary"] for one in told] == [True, False]


def test_naming_another_primary_contact_moves_it(caller: Caller) -> None:
    _put(caller, _mail("a@example.com"), _mail("b@example.com"))
    told = _put(caller, _mail("a@example.com"), _mail("b@example.com", primary=True))
    assert [one["primary"] for one in told] == [False, True]


def test_a_contact_that_is_left_out_is_no_longer_used_but_kept(caller: Caller) -> None:
    _put(caller, _mail("a@example.com"), _mail("b@example.com"))
    told = _put(caller, _mail("b@example.com"))
    assert [(one["address"], one["valid"], one["primary"]) for one in told] == [
        ("a@example.com", False, False),
        ("b@example.com", True, True),
    ]


def test_an_address_that_came_back_is_valid_again(caller: Caller) -> None:
    _put(caller, _mail("a@example.com"))
    _put(caller)
    assert [one["valid"] for one in _put(caller, _mail("a@example.com"))] == [True]


def test_handing_in_a_dead_address_again_does_not_revive_it(caller: Caller) -> None:
    _put(caller, _mail("a@example.com"))
    Contact.objects.update(invalidated_at=clock.now(), invalid_reason="no such mailbox")
    told = _put(caller, _mail("a@example.com", primary=True), _mail("b@example.com"))
    assert [(one["valid"], one["primary"]) for one in told] == [(False, False), (True, True)]


def test_a_contact_says_why_its_address_is_on_the_suppression_list(caller: Caller) -> None:
    _put(caller, _mail("Maria@example.com"), _mail("b@example.com"))
    for cause in (Cause.MANUAL, Cause.COMPLAINT):
        entry = SuppressionEntry(channel=Channel.EMAIL, address="maria@example.com", cause=cause)
        suppressions.add([entry], by="operator")
    told = caller.get(PATH).json()["contacts"]
    assert [one["suppressed_for"] for one in told] == [["complaint", "manual"], []]
    suppressions.undo(Suppression.objects.filter(reason=Cause.MANUAL), by="operator", note="")
    again = caller.post(f"{PATH}/contacts", _mail("Maria@example.com"))
    assert again.json()["suppressed_for"] == ["complaint"]
    Recipient.objects.update(mode=Mode.TEST)
    [contact, _] = suppressions.with_causes(Contact.objects.order_by("pk"))
    assert suppressions.causes_of(contact) == []


def test_a_domain_in_another_script_is_stored_as_it_is_sent_to(caller: Caller) -> None:
    told = _put(caller, _mail("maria@faß.de"))
    assert [one["address"] for one in told] == ["maria@xn--fa-hia.de"]


@pytest.mark.parametrize(
    "address", ["andré@example.com", ".a@example.com", "a..b@example.com", "maria@x..example"]
)
def test_a_mailbox_that_no_adapter_can_send_to_is_refused(caller: Caller, address: str) -> None:
    answer = caller.send("PUT", PATH, {"contacts": [_mail(address)]})
    assert answer.status_code == 422
    [error] = answer.json()["errors"]
    assert error["pointer"] == "/contacts/0/address"
    assert address not in error["detail"]


def test_one_contact_is_added_and_removed(caller: Caller) -> None:
    caller.send("PUT", PATH, {})
    contact = {"channel": "sms", "address": "+4915112345678"}
    added = caller.post(f"{PATH}/contacts", contact)
    assert (added.status_code, added.json()["primary"]) == (201, True)
    again = caller.post(f"{PATH}/contacts", contact)
    assert again.json()["id"] == added.json()["id"]
    path = f"{PATH}/contacts/{added.json()['id']}"
    assert caller.send("DELETE", path).status_code == 204
    assert [one["valid"] for one in caller.get(PATH).json()["contacts"]] == [False]


@pytest.mark.parametrize(
    ("channel", "address"),
    [
        ("sms", "0151 12345678"),
        ("sms", "+4915112345678\n"),
        ("sms", "+49"),
        ("sms", "+999123456789"),
        ("email", "maria"),
        ("email", "maria@example.com\r\nBcc: all@example.com"),
        ("email", "Maria <maria@example.com>"),
        ("webhook", "http://example.com/hook"),
        ("webhook", "https://169.254.169.254/latest"),
        ("webhook", "https://user:secret@example.com/"),
        ("webhook", "https://example.com:5432/"),
        ("push", "token\x07"),
        ("push", "token\x00"),
        ("pigeon", "coo"),
        ("push", ""),
        ("push", "t" * 2049),
    ],
)
def test_an_address_that_cannot_work_is_refused_where_it_is_entered(
    caller: Caller, channel: str, address: str
) -> None:
    answer = caller.send("PUT", PATH, {"contacts": [{"channel": channel, "address": address}]})
    assert answer.status_code == 422
    assert answer.json()["errors"][0]["pointer"].startswith("/contacts/0")


@pytest.mark.parametrize(
    "body",
    [
        {"timezone": "Mars/Olympus"},
        {"locale": "portuguese!"},
        {"locale": "xx-XX"},
        {"surprise": 1},
        [],
        1,
    ],
)
def test_a_profile_that_makes_no_sense_is_refused(caller: Caller, body: object) -> None:
    assert caller.send("PUT", PATH, body).status_code == 422


_DEFAULTS: dict[str, Any] = {
    "channels_off": [],
    "channels_left": [],
    "channel_order": [],
    "categories_off": [],
    "categories_left": [],
    "topics_off": {},
    "topics_left": {},
    "quiet_hours": [],
    "do_not_disturb_until": None,
    "caps": {},
}


def _stored(told: dict[str, Any]) -> dict[str, Any]:
    return {name: told[name] for name in _DEFAULTS}


def test_who_has_said_nothing_allows_everything(caller: Caller) -> None:
    caller.send("PUT", PATH, {})
    told = caller.get(f"{PATH}/preferences").json()
    assert _stored(told) == _DEFAULTS


def test_a_preference_changes_alone(caller: Caller) -> None:
    caller.send("PUT", PATH, {})
    caller.send("PATCH", f"{PATH}/preferences", {"channels_off": ["sms"]})
    told = caller.send("PATCH", f"{PATH}/preferences", {"categories_off": ["marketing"]}).json()
    off = {"channels_off": ["sms"], "categories_off": ["marketing"]}
    assert _stored(told) == _DEFAULTS | off


def test_caps_of_their_own_are_kept_until_others_are_given(caller: Caller) -> None:
    caller.send("PUT", PATH, {})
    given = {"sms": "1/day", "push": "5/hour"}
    assert caller.send("PATCH", f"{PATH}/preferences", {"caps": given}).json()["caps"] == given
    told = caller.send("PATCH", f"{PATH}/preferences", {"channels_off": ["sms"]}).json()
    assert told["caps"] == given
    assert caller.send("PATCH", f"{PATH}/preferences", {"caps": {}}).json()["caps"] == {}


@pytest.mark.parametrize(
    "caps", [{"pigeon": "1/day"}, {"sms": "0/day"}, {"sms": 3}, {"sms": "3/day\n"}, ["sms"]]
)
def test_a_cap_that_makes_no_sense_is_refused(caller: Caller, caps: object) -> None:
    caller.send("PUT", PATH, {})
    answer = caller.send("PATCH", f"{PATH}/preferences", {"caps": caps})
    assert answer.status_code == 422
    assert answer.json()["errors"][0]["pointer"].startswith("/caps")


def test_a_recipient_that_nobody_created_is_not_there(caller: Caller) -> None:
    assert caller.get(f"{PATH}/preferences").status_code == 404
    assert caller.post(f"{PATH}/contacts", _mail("a@example.com")).status_code == 404
