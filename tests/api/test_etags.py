"""Two people who change one object at once notice it; PUT replaces, PATCH merges."""

from __future__ import annotations

from typing import Any

import pytest
from django.contrib.postgres.functions import TransactionNow

from notifications.core.models import Schedule
from notifications.core.rules.templates import contents
from notifications.core.store.templates import versions
from providers.contract import Channel
from tests.api.conftest import Caller

PERSON = "/v1/recipients/maria"
WISHES = f"{PERSON}/preferences"
_MAIL = {"channel": "email", "address": "second@example.com"}
_SALE = {"user_id": "maria", "type": "SALE", "priority": "P2", "content": {"body": "Half price"}}

pytestmark = pytest.mark.usefixtures("maria")


@pytest.fixture
def schedule(caller: Caller) -> str:
    body = {"name": "daily", "rrule": "FREQ=DAILY;BYHOUR=9", "notification": _SALE}
    return f"/v1/schedules/{caller.post('/v1/schedules', body).json()['id']}"


def _check_conditions(caller: Caller, path: str, method: str, *bodies: object) -> None:
    """The first body is written with a good ETag; then the old one is refused."""
    read = caller.get(path)
    tag = read.headers["ETag"]
    same = caller.send("GET", path, b"", If_None_Match=tag)
    assert (same.status_code, same.content) == (304, b"")
    assert same.headers["Content-Length"] == "0", "a client would wait for a body"
    first, second = bodies
    written = caller.send(method, path, first, If_Match=tag)
    assert written.status_code == 200, written.content
    assert written.headers["ETag"] == caller.get(path).headers["ETag"] != tag
    stale = caller.send(method, path, second, If_Match=tag)
    assert (stale.status_code, stale.json()["code"]) == (412, "precondition-failed")
    assert stale.json()["errors"][0]["source"] == "header"
    assert caller.get(path).json() == written.json()
    now = written.headers["ETag"]
    assert caller.send(method, path, second, If_Match=f'"x", {now}').status_code == 200
    assert caller.send(method, path, second, If_Match="*").status_code == 200


@pytest.mark.parametrize("method", ["PUT", "PATCH"])
def test_a_recipient_that_has_changed_is_not_written(caller: Caller, method: str) -> None:
    _check_conditions(caller, PERSON, method, {"locale": "de"}, {"locale": "fr"})


@pytest.mark.parametrize("method", ["PUT", "PATCH"])
def test_preferences_that_have_changed_are_not_written(caller: Caller, method: str) -> None:
    off: list[dict[str, Any]] = [{"channels_off": ["sms"]}, {"channels_off": ["email"]}]
    _check_conditions(caller, WISHES, method, *off)


def test_a_schedule_that_has_changed_is_not_written(caller: Caller, schedule: str) -> None:
    _check_conditions(caller, schedule, "PATCH", {"name": "other"}, {"name": "third"})
    stale = caller.send("DELETE", schedule, If_Match='"x"')
    assert stale.status_code == 412
    Schedule.objects.update(due_at=TransactionNow())  # it moves on: that is no change
    ended = caller.send("DELETE", schedule, If_Match=caller.get(schedule).headers["ETag"])
    assert (ended.status_code, ended.headers["Content-Length"]) == (204, "0")
    assert caller.get(schedule).status_code == 404


@pytest.mark.parametrize("method", ["PATCH", "DELETE"])
def test_a_schedule_that_is_gone_is_unknown_also_with_a_condition(
    caller: Caller, schedule: str, method: str
) -> None:
    tag = caller.get(schedule).headers["ETag"]
    assert caller.send("DELETE", schedule, If_Match=tag).status_code == 204
    assert caller.send(method, schedule, {"paused": True}, If_Match=tag).status_code == 404


def test_a_template_that_has_changed_is_not_published(caller: Caller) -> None:
    content = contents.content([contents.words(Channel.EMAIL, "en", title="Hi", body="Hello")])
    versions.draft("hello", content, by="a")
    tag = caller.get("/v1/templates/hello").headers["ETag"]
    versions.draft("hello", content, by="b")
    path = "/v1/templates/hello/publish"
    assert caller.post(path, {"version": 1}, If_Match=tag).status_code == 412
    tag = caller.get("/v1/templates/hello").headers["ETag"]
    assert caller.post(path, {"version": 1}, If_Match=tag).status_code == 200


def test_an_operators_view_of_a_contact_is_no_change(caller: Caller) -> None:
    tag = caller.get(PERSON).headers["ETag"]
    caller.post("/v1/suppressions", {"channel": "email", "address": "maria@example.com"})
    assert caller.get(PERSON).headers["ETag"] == tag


def test_a_put_can_create_and_never_replace(caller: Caller) -> None:
    refused = caller.send("PUT", PERSON, {}, If_None_Match="*")
    assert refused.status_code == 412
    assert len(caller.get(PERSON).json()["contacts"]) == 2
    new = caller.send("PUT", "/v1/recipients/lisa", {}, If_None_Match="*")
    assert new.status_code == 201
    absent = caller.send("PUT", "/v1/recipients/ana", {}, If_Match="*")
    assert absent.status_code == 412


def test_putting_a_recipient_replaces_and_patching_merges(caller: Caller) -> None:
    patched = caller.send("PATCH", PERSON, {"locale": "de", "contacts": [_MAIL]}).json()
    assert (patched["locale"], patched["timezone"]) == ("de", "America/Sao_Paulo")
    assert [each["valid"] for each in patched["contacts"]] == [True, True, True]
    put = caller.send("PUT", PERSON, {"contacts": [_MAIL]}).json()
    assert (put["locale"], put["timezone"]) == ("en", "")
    assert [each["valid"] for each in put["contacts"]] == [False, False, True]
    kept = caller.send("PUT", PERSON, {"locale": "fr"}).json()
    assert (kept["locale"], kept["contacts"]) == ("fr", put["contacts"])
    assert caller.send("PATCH", "/v1/recipients/nobody", {}).status_code == 404


def test_putting_preferences_replaces_and_patching_merges(caller: Caller) -> None:
    caller.send("PATCH", WISHES, {"channels_off": ["sms"], "caps": {"sms": "1/day"}})
    patched = caller.send("PATCH", WISHES, {"categories_off": ["news"]}).json()
    assert (patched["channels_off"], patched["categories_off"]) == (["sms"], ["news"])
    put = caller.send("PUT", WISHES, {"channels_off": ["email"]}).json()
    assert (put["channels_off"], put["categories_off"], put["caps"]) == (["email"], [], {})
