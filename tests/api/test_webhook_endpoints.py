"""A producer creates endpoints, sees their calls, rotates secrets and replays."""

from __future__ import annotations

from typing import Any

import pytest

from notifications.core import clock
from notifications.core.models import (
    AuditEntry,
    Recipient,
    WebhookAttempt,
    WebhookEndpoint,
    WebhookMessage,
)
from notifications.core.rules.lane import Mode
from notifications.core.rules.webhook_events import MessageState
from notifications.core.webhooks import endpoints
from providers.standard_webhooks import Secret
from tests.api.conftest import Caller, MakeCaller

_PATH = "/v1/webhook-endpoints"
_URL = "https://hooks.example.com/in"


@pytest.fixture(autouse=True)
def _unknown_endpoints() -> None:
    endpoints.forget()


def _create(caller: Caller, **fields: object) -> dict[str, Any]:
    answer = caller.post(_PATH, {"url": _URL, **fields})
    assert answer.status_code == 201, answer.content
    assert answer["Cache-Control"] == "no-store"
    made: dict[str, Any] = answer.json()
    return made


def test_a_secret_is_shown_once(caller: Caller) -> None:
    made = _create(caller, events=["notification.failed"], preset="brief")
    endpoint = WebhookEndpoint.objects.get()
    [secret] = endpoints.secrets_of(endpoint, now=clock.now())
    assert Secret.parse(made.pop("secret")) == secret
    assert (made["events"], made["preset"], made["state"]) == (
        ["notification.failed"],
        "brief",
        "active",
    )
    assert caller.get(f"{_PATH}/{made['id']}").json() == made
    listed = caller.get(_PATH)
    assert listed.json()["results"] == [made]
    assert b"whsec_" not in listed.content
    entry = AuditEntry.objects.get(operation="create_webhook_endpoint")
    assert entry.object_id == str(endpoint.pk)


@pytest.mark.parametrize(
    ("fields", "pointer"),
    [
        ({"url": "http://hooks.example.com/"}, "/url"),
        ({"url": "https://10.0.0.1/"}, "/url"),
        ({"url": "https://user:word@hooks.example.com/"}, "/url"),
        ({"events": ["notification.gone"]}, "/events/0"),
        ({"preset": "patient"}, "/preset"),
    ],
)
def test_a_wrong_endpoint_is_refused(
    caller: Caller, fields: dict[str, object], pointer: str
) -> None:
    answer = caller.post(_PATH, {"url": _URL, **fields})
    assert answer.status_code == 422
    assert [each["pointer"] for each in answer.json()["errors"]] == [pointer]


@pytest.mark.usefixtures("maria")
@pytest.mark.parametrize(
    ("url", "is_told"),
    [
        ("http://127.0.0.1:9000/hook", True),
        ("http://localhost:3000/", True),
        ("https://[::1]/", True),
        ("http://hooks.example.com/", False),
        ("https://hooks.example.com:22/", False),
    ],
)
def test_a_refused_address_of_ones_own_machine_is_told_with_the_setting_that_allows_it(
    caller: Caller, url: str, *, is_told: bool
) -> None:
    body = {"user_id": "maria", "type": "X", "priority": "P1", "content": {"body": "Hello"}}
    for answer in (
        caller.post(_PATH, {"url": url}),
        caller.post("/v1/notifications", body | {"webhook_url": url}),
    ):
        assert answer.status_code == 422
        told = [each for each in answer.json()["errors"] if "url" in each["pointer"]]
        assert ("NOTIFY_WEBHOOK_ALLOW_PRIVATE=yes" in told[0]["detail"]) == is_told


def test_a_producer_has_a_bounded_number_of_endpoints(caller: Caller) -> None:
    for _ in range(endpoints.MOST):
        _create(caller)
    assert caller.post(_PATH, {"url": _URL}).status_code == 409


def test_an_endpoint_is_changed_paused_and_deleted(caller: Caller) -> None:
    path = f"{_PATH}/{_create(caller)['id']}"
    changed = caller.send("PATCH", path, {"events": ["notification.read"], "state": "paused"})
    assert changed.json()["events"] == ["notification.read"]
    assert (changed.json()["state"], changed.json()["url"]) == ("paused", _URL)
    assert caller.send("PATCH", path, {"url": "https://10.0.0.1/"}).status_code == 422
    assert caller.send("PATCH", path, {"state": "active"}).json()["state"] == "active"
    assert caller.send("DELETE", path).status_code == 204
    assert caller.get(path).status_code == 404


def test_disabling_gives_waiting_messages_up(caller: Caller) -> None:
    path = f"{_PATH}/{_create(caller)['id']}"
    assert caller.post(f"{path}/test").status_code == 202
    caller.send("PATCH", path, {"state": "disabled"})
    message = WebhookMessage.objects.get()
    assert (message.state, message.due_at) == (MessageState.FAILED, None)


def test_a_rotated_secret_overlaps_with_the_former(caller: Caller) -> None:
    made = _create(caller)
    answer = caller.post(f"{_PATH}/{made['id']}/secrets", {"overlap_hours": 1})
    assert answer.status_code == 201
    assert answer["Cache-Control"] == "no-store"
    both = endpoints.secrets_of(WebhookEndpoint.objects.get(), now=clock.now())
    assert [each.text() for each in both] == [answer.json()["secret"], made["secret"]]
    caller.post(f"{_PATH}/{made['id']}/secrets", {"overlap_hours": 0})
    assert len(endpoints.secrets_of(WebhookEndpoint.objects.get(), now=clock.now())) == 1


def test_a_replay_is_stored(caller: Caller) -> None:
    path = f"{_PATH}/{_create(caller)['id']}"
    answer = caller.post(f"{path}/replay", {"since": "2026-11-01T00:00:00Z"})
    assert answer.status_code == 202
    assert answer.json()["replay_since"] == "2026-11-01T00:00:00Z"
    assert caller.post(f"{path}/replay", {}).status_code == 422


def test_a_disabled_endpoint_takes_no_replay_and_no_test(caller: Caller) -> None:
    path = f"{_PATH}/{_create(caller)['id']}"
    caller.send("PATCH", path, {"state": "disabled"})
    replay = caller.post(f"{path}/replay", {"since": "2026-11-01T00:00:00Z"})
    assert (replay.status_code, caller.post(f"{path}/test").status_code) == (409, 409)
    assert "active" in replay.json()["detail"]
    assert WebhookEndpoint.objects.get().replay_since is None
    assert not WebhookMessage.objects.exists()


def test_calls_are_listed(caller: Caller) -> None:
    made = _create(caller)
    path = f"{_PATH}/{made['id']}"
    message_id = caller.post(f"{path}/test").json()["message_id"]
    for number in (1, 2):
        WebhookAttempt.objects.create(
            message_id=message_id,
            number=number,
            endpoint_id=made["id"],
            started_at=clock.now(),
            latency_ms=3,
            error="timeout",
        )
    first = caller.get(f"{path}/attempts", limit=1).json()
    [line] = first["results"]
    assert (line["number"], line["error"], line["type"]) == (2, "timeout", "webhook.test")
    assert (line["message_id"], line["message_state"]) == (message_id, "waiting")
    second = caller.get(f"{path}/attempts", cursor=first["next"]).json()
    assert [each["number"] for each in second["results"]] == [1]


def test_endpoints_belong_to_a_producer_and_a_mode(caller: Caller, make_caller: MakeCaller) -> None:
    path = f"{_PATH}/{_create(caller)['id']}"
    for other in (make_caller("other"), make_caller(mode=Mode.TEST)):
        assert other.get(_PATH).json()["results"] == []
        assert other.get(path).status_code == 404
        assert other.get(f"{path}/attempts").status_code == 404
        assert other.send("PATCH", path, {"state": "paused"}).status_code == 404
        assert other.send("DELETE", path).status_code == 404
        for act, body in (
            ("test", {}),
            ("secrets", {}),
            ("replay", {"since": "2026-11-01T00:00:00Z"}),
        ):
            assert other.post(f"{path}/{act}", body).status_code == 404


@pytest.mark.usefixtures("maria")
def test_the_url_of_a_request_makes_the_endpoint_that_signs(caller: Caller) -> None:
    body = {"user_id": "maria", "type": "X", "priority": "P2", "content": {"body": "Hello"}}
    assert caller.post("/v1/notifications", body).status_code == 202
    assert WebhookEndpoint.objects.count() == 0
    for _ in range(2):
        told = caller.post("/v1/notifications", body | {"webhook_url": _URL})
        assert told.status_code == 202, told.content
    [endpoint] = caller.get(_PATH).json()["results"]
    assert endpoint["url"] is None
    path = f"{_PATH}/{endpoint['id']}"
    assert caller.post(f"{path}/secrets").status_code == 201
    for refused in (
        caller.send("DELETE", path),
        caller.send("PATCH", path, {"url": _URL}),
        caller.post(f"{path}/test"),
    ):
        assert refused.status_code == 409
    wrong = caller.post("/v1/notifications", body | {"webhook_url": "https://127.0.0.1/"})
    assert wrong.status_code == 422
    assert wrong.json()["errors"][0]["pointer"] == "/webhook_url"


def test_a_schedule_keeps_the_url(caller: Caller, maria: Recipient) -> None:
    notification = {
        "user_id": maria.user_id,
        "type": "X",
        "priority": "P2",
        "content": {"body": "Hello"},
        "webhook_url": _URL,
    }
    made = caller.post(
        "/v1/schedules", {"name": "n", "rrule": "FREQ=DAILY", "notification": notification}
    )
    assert made.status_code == 201
    assert made.json()["notification"]["webhook_url"] == _URL
