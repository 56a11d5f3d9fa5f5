"""A recipient by address: found or registered in the call that sends."""

from __future__ import annotations

import datetime as dt
import threading
from typing import Any

import orjson
import pytest
from django.db import connection

from notifications.core import clock
from notifications.core.models import AuditEntry, Contact, Notification, Preference, Recipient
from notifications.core.rules import request
from notifications.core.rules.lane import Mode
from notifications.core.rules.problems import Problem
from notifications.core.rules.templates import contents
from notifications.core.store.templates import versions
from providers.contract import Channel
from tests.api.conftest import Caller, MakeCaller

_HELLO: dict[str, Any] = {
    "to": {"email": "me@example.com", "locale": "de"},
    "type": "HELLO",
    "priority": "P2",
    "content": {"title": "Hello", "body": "Hello"},
}


def _to(**to: str) -> dict[str, Any]:
    return {**_HELLO, "to": to}


@pytest.mark.parametrize("mode", Mode)
def test_hello_takes_one_call(make_caller: MakeCaller, mode: Mode) -> None:
    caller = make_caller(mode=mode, scopes=("notifications:*", "recipients:read"))
    answer = caller.post("/v1/notifications", _HELLO)
    assert answer.status_code == 202, answer.content
    said = answer.json()
    [delivery] = said["deliveries"]
    assert (delivery["channel"], delivery["status"]) == ("email", "queued")
    assert said["recipient"]["registered"]
    user_id = said["recipient"]["user_id"]
    assert "example" not in user_id
    known = caller.get(f"/v1/recipients/{user_id}").json()
    assert (known["locale"], [each["address"] for each in known["contacts"]]) == (
        "de",
        ["me@example.com"],
    )
    again = caller.post("/v1/notifications", _HELLO).json()
    assert again["recipient"] == {"user_id": user_id, "registered": False}
    assert Recipient.objects.count() == 1
    assert set(Notification.objects.values_list("user_id", flat=True)) == {user_id}


def test_who_is_registered_has_the_key_at_contacts_and_in_the_changes(
    make_caller: MakeCaller,
) -> None:
    caller = make_caller("shop", scopes=("notifications:*", "recipients:read"))
    user_id = caller.post("/v1/notifications", _HELLO).json()["recipient"]["user_id"]
    [contact] = caller.get(f"/v1/recipients/{user_id}").json()["contacts"]
    assert contact["created_by"].startswith("producer shop (nk_live_")
    changes = caller.get(f"/v1/recipients/{user_id}/changes").json()["results"]
    assert {each["by"] for each in changes} == {contact["created_by"]}
    assert {each["operation"] for each in changes} == {"register_recipient"}
    assert [each["after"].get("address") for each in changes if "address" in each["after"]] == [
        "me…@…om"
    ]
    caller.post("/v1/notifications", _HELLO)
    assert AuditEntry.objects.count() == 2


def test_a_registration_that_is_undone_is_in_no_entry(caller: Caller) -> None:
    wrong = {**_HELLO, "template_id": "nowhere", "content": None}
    wrong.pop("content")
    good = {**_HELLO, "to": {"email": "other@example.com"}}
    answer = caller.post("/v1/notifications/batch", {"notifications": [wrong, good]})
    assert [each["result"] for each in answer.json()["results"]] == ["rejected", "accepted"]
    assert set(Contact.objects.values_list("address", flat=True)) == {"other@example.com"}
    assert AuditEntry.objects.count() == 2


def test_a_phone_number_is_one_person_however_it_is_written(caller: Caller) -> None:
    first = caller.post("/v1/notifications", _to(phone="+49 151 12345678")).json()
    again = caller.post("/v1/notifications", _to(phone="+4915112345678")).json()
    assert first["recipient"]["user_id"] == again["recipient"]["user_id"]
    assert Recipient.objects.get().phone_timezone == "Europe/Berlin"


def test_who_has_the_address_is_found_and_keeps_their_wishes(
    caller: Caller, maria: Recipient
) -> None:
    Preference.objects.create(recipient=maria, channels_off=[Channel.EMAIL])
    said = caller.post("/v1/notifications", _to(email="maria@example.com", locale="en")).json()
    assert said["recipient"] == {"user_id": "maria", "registered": False}
    assert [each["status"] for each in said["deliveries"]] == ["suppressed"]
    maria.refresh_from_db()
    assert maria.locale == "pt-BR"


def test_nobodys_contacts_are_changed(caller: Caller, maria: Recipient) -> None:
    to = {"email": "maria@example.com", "phone": "+4915112345678"}
    said = caller.post("/v1/notifications", _to(**to)).json()
    assert said["recipient"]["registered"]
    assert maria.contacts.count() == 2
    assert Contact.objects.filter(address="+4915112345678").get().recipient_id != maria.pk


def test_a_refused_request_registers_nobody(caller: Caller) -> None:
    body = {**_HELLO, "template_id": "none"}
    del body["content"]
    assert caller.post("/v1/notifications", body).status_code == 422
    other = {**body, "to": {"email": "other@example.com"}}
    batch = {"notifications": [body, _HELLO, other, {"to": {"email": "x"}}]}
    said = caller.post("/v1/notifications/batch", batch).json()
    assert said["summary"] == {"accepted": 1, "duplicate": 0, "rejected": 3}
    assert Recipient.objects.count() == Contact.objects.count() == 1


def test_a_repeat_gets_the_first_answer_though_the_recipient_is_gone(caller: Caller) -> None:
    body = {**_HELLO, "idempotency_key": "k"}
    first = caller.post("/v1/notifications", body)
    Recipient.objects.all().delete()
    again = caller.post("/v1/notifications", body)
    assert again.json() == first.json()
    assert not Recipient.objects.exists()


def test_a_key_without_the_scope_may_not_register(make_caller: MakeCaller) -> None:
    caller = make_caller(scopes=("notifications:write", "recipients:*"))
    answer = caller.post("/v1/notifications", _HELLO)
    assert answer.status_code == 403
    assert "notifications:to" in answer.json()["detail"]
    batch = caller.post("/v1/notifications/batch", {"notifications": [_HELLO]})
    [result] = batch.json()["results"]
    assert result["problem"]["errors"][0]["pointer"] == "/notifications/0/to"
    assert not Recipient.objects.exists()


@pytest.mark.parametrize(
    ("change", "pointer"),
    [
        ({"user_id": "maria"}, "/to"),
        ({"to": {}}, "/to/email"),
        ({"to": {"email": "me"}}, "/to/email"),
        ({"to": {"mail": "me@example.com"}}, "/to/mail"),
        ({"to": {"phone": "0151 1234"}}, "/to/phone"),
        ({"to": {"phone": "+4915112345678", "timezone": "Berlin\x00"}}, "/to/timezone"),
        ({"channels": ["email", "push"]}, "/channels/1"),
    ],
)
def test_a_mistake_in_it_is_pointed_at(
    caller: Caller, change: dict[str, Any], pointer: str
) -> None:
    answer = caller.post("/v1/notifications", _HELLO | change)
    assert answer.status_code == 422
    assert pointer in {each["pointer"] for each in answer.json()["errors"]}


def test_a_schedule_needs_somebody_who_is_registered(caller: Caller) -> None:
    body = {"name": "n", "rrule": "FREQ=DAILY", "notification": _HELLO}
    answer = caller.post("/v1/schedules", body)
    assert answer.status_code == 422
    assert answer.json()["errors"][0]["pointer"] == "/notification/to"


def test_an_address_on_a_channel_for_which_there_is_no_text_is_refused(caller: Caller) -> None:
    words = contents.words(Channel.EMAIL, "en", title="Hi", body="Hello")
    versions.publish(versions.draft("hi", contents.content([words]), by="t"), by="t")
    body = {**_to(phone="+4915112345678"), "template_id": "hi"}
    del body["content"]
    answer = caller.post("/v1/notifications", body)
    assert answer.status_code == 422
    assert answer.json()["errors"][0]["pointer"] == "/to"
    assert not Recipient.objects.exists()


@pytest.mark.django_db(transaction=True)
def test_several_at_once_register_one_person(caller: Caller) -> None:
    answers = []

    def post() -> None:
        try:
            answers.append(caller.post("/v1/notifications", _HELLO))
        finally:
            connection.close()

    threads = [threading.Thread(target=post) for _ in range(4)]
    for each in threads:
        each.start()
    for each in threads:
        each.join()
    assert [each.status_code for each in answers] == [202] * 4
    assert Recipient.objects.count() == Contact.objects.count() == 1
    assert Notification.objects.count() == 4


def test_a_release_that_did_not_know_the_field_told_bodies_apart_as_this_one() -> None:
    wanted = request.parse({"user_id": "maria", "type": "SALE", "content": {"body": "hi"}})
    assert not isinstance(wanted, Problem)
    assert "to" not in orjson.loads(request.canonical(wanted).reveal())


@pytest.mark.usefixtures("maria")
def test_first_says_which_channels_it_skips_and_why(caller: Caller) -> None:
    body = {"user_id": "maria", **_HELLO, "channels": ["push", "sms", "email"]}
    del body["to"]
    said = caller.post("/v1/notifications", body).json()
    assert [each["channel"] for each in said["deliveries"]] == ["sms"]
    assert said["skipped"] == [
        {"channel": "push", "reason": "no_contact"},
        {"channel": "email", "reason": "not_needed"},
    ]
    alone = caller.post("/v1/notifications", {**body, "channels": ["sms"]}).json()
    assert "skipped" not in alone
    every = caller.post("/v1/notifications", {**body, "delivery": "all"}).json()
    assert "skipped" not in every


@pytest.mark.usefixtures("maria")
def test_what_perhaps_means_something_else_is_a_warning(caller: Caller) -> None:
    words = contents.words(Channel.EMAIL, "en", title="Hi", body="Hi {{ note | default('') }}")
    versions.publish(versions.draft("hi", contents.content([words]), by="t"), by="t")
    body = {"user_id": "maria", **_HELLO, "template_id": "hi"}
    del body["to"], body["content"]
    assert "warnings" not in caller.post("/v1/notifications", {**body, "variables": {}}).json()
    past = (clock.now() - dt.timedelta(days=1)).isoformat()
    odd = {**body, "variables": {"noet": "x"}, "scheduled_at": past}
    assert caller.post("/v1/notifications", odd).json()["warnings"] == [
        {
            "pointer": "/variables/noet",
            "detail": "no text of the template uses this variable; did you mean note?",
        },
        {
            "pointer": "/scheduled_at",
            "detail": "lies in the past: the notification leaves at once",
        },
    ]
