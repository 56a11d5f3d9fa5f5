"""Series over HTTP: from a draft to enrolments, events and a history."""

from __future__ import annotations

from typing import Any

import pytest

from notifications.core import clock
from notifications.core.models import Notification, NotificationType, Recipient, Template
from notifications.core.rules.lane import Mode, Priority
from notifications.core.store.cached import notification_types
from notifications.core.store.templates import template_cache
from notifications.features.series import programs, sweep
from notifications.features.series.models import SeriesEnrolment
from providers.contract import Channel
from tests.api.conftest import Caller, MakeCaller

_SEND = {"step": "send", "name": "one", "type": "HELLO", "template_id": "hello"}
_WAIT = {"step": "wait", "days": 1, "until_event": {"event": "paid"}}
_STEPS = {"steps": [_SEND, _WAIT, {**_SEND, "name": "two"}]}


@pytest.fixture(autouse=True)
def _template(db: None) -> None:  # noqa: ARG001 - pytest-django asks for it by name
    programs.of_version.cache_clear()
    template_cache.forget()
    notification_types.forget()
    NotificationType.objects.create(name="HELLO", priority=Priority.P2)
    made = Template.objects.create(template_id="hello")
    made.texts.create(channel=Channel.EMAIL, title="Hello", body="Hello {{ name }}")
    Template.objects.filter(pk=made.pk).update(published_at=clock.now())


def _publish(caller: Caller, definition: object = _STEPS, name: str = "first") -> dict[str, Any]:
    body = {"name": name, "definition": definition}
    made = caller.post("/v1/series", body)
    assert made.status_code == 201, made.content
    answer = caller.post(f"/v1/series/{name}/publish", {})
    assert answer.status_code == 200, answer.content
    told: dict[str, Any] = answer.json()
    return told


def _sweep() -> None:
    for _ in range(3):
        sweep.run_once(now=clock.now(), limit=100)


def test_a_recipient_goes_through_a_series(caller: Caller, maria: Recipient) -> None:
    del maria
    assert _publish(caller)["state"] == "active"
    path = "/v1/series/first/enrolments"
    people = [{"user_id": "maria", "variables": {"name": "Ana"}}, {"user_id": "x"}]
    results = caller.post(path, {"enrolments": people}).json()["results"]
    assert [each["result"] for each in results] == ["enrolled", "rejected"]
    assert results[1]["problem"]["errors"][0]["pointer"] == "/enrolments/1/user_id"
    assert caller.post(path, {"enrolments": people[:1]}).json()["results"] == [
        {"result": "unchanged"}
    ]
    _sweep()
    posted = caller.post("/v1/events", {"events": [{"name": "paid", "user_id": "maria"}]})
    assert (posted.status_code, posted.json()) == (202, {"results": [{"result": "accepted"}]})
    _sweep()
    told = caller.get(f"{path}/{results[0]['enrolment_id']}").json()
    assert (told["state"], told["version"]) == ("finished", 1)
    assert [each["outcome"] for each in told["history"]] == ["sent", "event", "sent"]
    assert {each["notification_id"] for each in told["history"]} == {
        None,
        *(str(each.id) for each in Notification.objects.all()),
    }
    series = caller.get("/v1/series/first").json()
    assert series["enrolments"] == {"running": 0, "finished": 1, "exited": 0}


@pytest.mark.parametrize(
    ("definition", "pointer"),
    [
        ({"steps": []}, "/definition/steps"),
        ({"steps": [{"step": "nap"}]}, "/definition/steps/0"),
        ({"steps": [_SEND], "goal": {}}, "/definition/goal/event"),
        ({"steps": [{**_SEND, "variables": 3}]}, "/definition/steps/0/variables"),
    ],
)
def test_a_fault_of_a_definition_has_its_place(
    caller: Caller, definition: object, pointer: str
) -> None:
    answer = caller.post("/v1/series", {"name": "first", "definition": definition})
    assert answer.status_code == 422
    assert [each["pointer"] for each in answer.json()["errors"]] == [pointer]
    assert pointer in answer.json()["detail"]


@pytest.mark.parametrize(
    ("change", "pointer"),
    [
        ({"template_id": "helo"}, "template_id"),
        ({"type": "UNKNOWN"}, "type"),
        ({"channels": ["sms"]}, "channels/0"),
    ],
)
def test_publishing_checks_the_messages(
    caller: Caller, change: dict[str, Any], pointer: str
) -> None:
    body = {"name": "first", "definition": {"steps": [_WAIT, {**_SEND, **change}]}}
    assert caller.post("/v1/series", body).status_code == 201
    answer = caller.post("/v1/series/first/publish", {})
    assert answer.status_code == 422
    assert [each["pointer"] for each in answer.json()["errors"]] == [
        f"/definition/steps/1/{pointer}"
    ]
    assert (
        caller.post(
            "/v1/series/first/enrolments", {"enrolments": [{"user_id": "maria"}]}
        ).status_code
        == 409
    )


def test_the_states_of_a_series(caller: Caller, maria: Recipient) -> None:
    del maria
    _publish(caller)
    for verb, state in (("pause", "paused"), ("pause", "paused"), ("resume", "active")):
        assert caller.post(f"/v1/series/first/{verb}", {}).json()["state"] == state
    assert caller.post("/v1/series/first/archive", {}).json()["state"] == "archived"
    assert caller.post("/v1/series/first/resume", {}).status_code == 409
    assert caller.send("PUT", "/v1/series/first", {"definition": _STEPS}).status_code == 409
    people = {"enrolments": [{"user_id": "maria"}]}
    assert caller.post("/v1/series/first/enrolments", people).status_code == 409
    assert caller.post("/v1/series", {"name": "first", "definition": _STEPS}).status_code == 409


def test_a_draft_becomes_the_next_version(caller: Caller, maria: Recipient) -> None:
    del maria
    _publish(caller)
    new = {"steps": [{"step": "wait", "days": 3}]}
    changed = caller.send("PUT", "/v1/series/first", {"definition": new}).json()
    assert (changed["version"], changed["draft"]) == (1, new)
    published = caller.post("/v1/series/first/publish", {}).json()
    assert (published["version"], published["definition"], published["draft"]) == (2, new, None)
    assert caller.post("/v1/series/first/publish", {}).status_code == 409


def test_a_series_of_another_producer_or_mode_is_unknown(
    caller: Caller, make_caller: MakeCaller, maria: Recipient
) -> None:
    del maria
    _publish(caller)
    people = {"enrolments": [{"user_id": "maria"}]}
    made = caller.post("/v1/series/first/enrolments", people).json()["results"][0]
    for other in (make_caller(name="other"), make_caller(mode=Mode.TEST)):
        for path in ("", "/enrolments", f"/enrolments/{made['enrolment_id']}"):
            assert other.get(f"/v1/series/first{path}").status_code == 404
        assert other.post("/v1/series/first/pause", {}).status_code == 404


def test_an_enrolment_is_ended_and_listed(caller: Caller, maria: Recipient) -> None:
    del maria
    _publish(caller)
    path = "/v1/series/first/enrolments"
    caller.post(path, {"enrolments": [{"user_id": "maria"}]})
    [line] = caller.get(f"{path}?user_id=maria&state=running").json()["results"]
    told = caller.post(f"{path}/{line['id']}/exit", {}).json()
    assert (told["state"], told["exit_reason"], told["due_at"]) == ("exited", "requested", None)
    assert caller.post(f"{path}/{line['id']}/exit", {}).status_code == 200
    assert caller.get(f"{path}?state=running").json()["results"] == []
    assert caller.get(f"{path}?user_id=lisa").json()["results"] == []
    assert caller.get(f"{path}/{2**70}").status_code == 404


def test_a_repeated_call_with_a_key_enrols_once(caller: Caller, maria: Recipient) -> None:
    del maria
    _publish(caller, {**_STEPS, "reentry": "after_exit"})
    body = {"enrolments": [{"user_id": "maria"}]}
    path = "/v1/series/first/enrolments"
    first = caller.post(path, body, Idempotency_Key="k").json()
    caller.post(f"{path}/{first['results'][0]['enrolment_id']}/exit", {})
    assert caller.post(path, body, Idempotency_Key="k").json() == first
    assert SeriesEnrolment.objects.count() == 1


def test_an_invalid_event_fails_no_other(caller: Caller, maria: Recipient) -> None:
    del maria
    good = {"name": "paid", "user_id": "maria", "idempotency_key": "a"}
    bad = [3, {}, {**good, "properties": {"a": "x" * 5000}}, {**good, "user_id": "x"}]
    results = caller.post("/v1/events", {"events": [good, *bad, good]}).json()["results"]
    words = ["accepted", "rejected", "rejected", "rejected", "rejected", "duplicate"]
    assert [each["result"] for each in results] == words
    pointer = results[3]["problem"]["errors"][0]["pointer"]
    assert pointer == "/events/3/properties"
    assert caller.post("/v1/events", {"events": []}).status_code == 422


def test_a_repeat_of_events_costs_as_much_as_the_first_call(
    make_caller: MakeCaller, maria: Recipient
) -> None:
    caller = make_caller(rate_per_second=0, rate_burst=5)
    event = {"name": "paid", "user_id": maria.user_id}
    body = {"events": [event] * 3}
    assert caller.post("/v1/events", body, Idempotency_Key="k").status_code == 202
    assert caller.post("/v1/events", body, Idempotency_Key="k").status_code == 429
