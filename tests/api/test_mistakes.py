"""Typical mistakes of a caller: each answer points at its place and says how to mend it."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final

import pytest

from notifications.core.api import schema
from notifications.core.models import NotificationType
from notifications.core.rules import request_faults
from notifications.core.rules.lane import Priority
from notifications.core.rules.templates import contents
from notifications.core.store.templates import versions
from providers.contract import Channel
from tests.api.conftest import Caller, MakeCaller
from tests.rules.test_request_faults import PYTHON

if TYPE_CHECKING:
    from django.test.client import _MonkeyPatchedWSGIResponse as Reply

pytestmark = pytest.mark.usefixtures("maria")

_GOOD: Final[dict[str, Any]] = {
    "user_id": "maria",
    "type": "SALE",
    "priority": "P2",
    "content": {"body": "Half price"},
}


@pytest.fixture(autouse=True)
def _template(maria: object) -> None:  # noqa: ARG001 - its database
    said = "{{ restaurant }} {{ note | default('') }}"
    words = contents.words(Channel.EMAIL, "en", title="Ready", body=said)
    versions.publish(versions.draft("order_ready_v3", contents.content([words]), by="t"), by="t")


def _errors(answer: Reply) -> dict[str, str]:
    said = answer.json()
    assert not PYTHON.search(answer.content.decode()), answer.content
    return {error["pointer"]: error["detail"] for error in said.get("errors", [])}


@pytest.mark.parametrize(
    ("change", "pointer", "words"),
    [
        ({"proirity": "P1"}, "/proirity", "did you mean priority?"),
        ({"priority": 1}, "/priority", "must be one of P0, P1, P2, P3"),
        ({"channels": "email"}, "/channels", "must be a list"),
        ({"channels": ["fax"]}, "/channels/0", "must be one of push"),
        ({"channels": ["sms", "sms"]}, "/channels", "must not repeat"),
        ({"delivery": "each"}, "/delivery", "must be one of first, all"),
        ({"content": None}, "/template_id", "give either template_id or content"),
        ({"template_id": "order_ready_v3"}, "/content", "not both"),
        ({"content": []}, "/content", "must be a JSON object"),
        ({"content": {"text": "x"}}, "/content/text", "unknown field"),
        ({"fallback_chain": True, "channels": ["sms"]}, "/fallback_chain", "a second channel"),
        ({"fallback_chain": True, "delivery": "all"}, "/fallback_chain", "needs delivery first"),
        ({"fallback_chain": True, "ordering_key": "a"}, "/fallback_chain", "ordering_key"),
        ({"webhook_url": "http://example.com"}, "/webhook_url", "https"),
        ({"metadata": {"a": "x" * 5_000}}, "/metadata", "may take 4096 bytes"),
        ({"scheduled_at": "tomorrow"}, "/scheduled_at", "2026-11-21T09:00:00Z"),
        ({"scheduled_at": 1_700_000_000}, "/scheduled_at", "2026-11-21T09:00:00Z"),
        ({"send_at_local": "9 am"}, "/send_at_local", "must be a time of day like 09:00"),
        ({"ttl_seconds": "soon"}, "/ttl_seconds", "must be a whole number"),
        ({"ttl_seconds": 0}, "/ttl_seconds", "must be at least 1"),
        ({"ttl_seconds": True}, "/ttl_seconds", "must be a whole number"),
        ({"type": "order ready"}, "/type", "letters, digits"),
        ({"user_id": ""}, "/user_id", "must not be empty"),
        ({"user_id": "nobody"}, "/user_id", "PUT /v1/recipients/{user_id}"),
        ({"variables": {"a b": 1}}, "/variables/a b", "letters, digits"),
        ({"content": None, "template_id": "order_redy_v3"}, "/template_id", "order_ready_v3?"),
    ],
)
def test_a_mistake_in_a_notification_is_pointed_at(
    caller: Caller, change: dict[str, Any], pointer: str, words: str
) -> None:
    body = {name: value for name, value in (_GOOD | change).items() if value is not None}
    answer = caller.post("/v1/notifications", body)
    assert answer.status_code == 422
    assert words in _errors(answer)[pointer]
    batch = caller.post("/v1/notifications/batch", {"notifications": [_GOOD, body]})
    [good, bad] = batch.json()["results"]
    assert (good["result"], bad["result"]) == ("accepted", "rejected")
    assert batch.json()["summary"] == {"accepted": 1, "duplicate": 0, "rejected": 1}
    assert f"/notifications/1{pointer}" in {each["pointer"] for each in bad["problem"]["errors"]}


@pytest.mark.parametrize(
    ("body", "pointers"),
    [
        ({}, {"/type", "/user_id", "/template_id"}),
        ({"type": "ORDER_READY"}, {"/user_id", "/template_id"}),
        ({"to": {}, "ttl_seconds": 0}, {"/type", "/to/email", "/ttl_seconds", "/template_id"}),
        ({"user_id": "u_1", "content": {}}, {"/type", "/content/body"}),
    ],
)
def test_all_missing_fields_are_told_at_once(
    caller: Caller, body: dict[str, Any], pointers: set[str]
) -> None:
    answer = caller.post("/v1/notifications", body)
    assert answer.status_code == 422
    assert set(_errors(answer)) == pointers


def test_a_similar_type_and_a_similar_timezone_are_suggested(caller: Caller) -> None:
    NotificationType.objects.create(name="ORDER_READY", priority=Priority.P1, category="orders")
    wrong = {name: value for name, value in _GOOD.items() if name != "priority"}
    answer = caller.post("/v1/notifications", wrong | {"type": "ORDER_REDY"})
    assert _errors(answer)["/type"].endswith("did you mean ORDER_READY?")
    for zone in ("Europe/Berln", "europe/berlin"):
        answer = caller.send("PUT", "/v1/recipients/u_9", {"timezone": zone})
        assert _errors(answer)["/timezone"].endswith("did you mean Europe/Berlin?")
    answer = caller.send("PUT", "/v1/recipients/u_9", {"timezone": "Nowhere"})
    assert "did you mean" not in _errors(answer)["/timezone"]


def test_a_misspelt_variable_is_named_beside_the_one_that_is_missing(caller: Caller) -> None:
    body = {**_GOOD, "template_id": "order_ready_v3", "variables": {"resturant": "Burger"}}
    del body["content"]
    assert _errors(caller.post("/v1/notifications", body)) == {
        "/variables/restaurant": "the template needs this variable, and it is missing",
        "/variables/resturant": (
            "no text of the template uses this variable; did you mean restaurant?"
        ),
    }


@pytest.mark.parametrize("body", [b"[]", b"1", b"null", b'"text"'])
@pytest.mark.parametrize(
    "path",
    [
        "/v1/notifications",
        "/v1/notifications/batch",
        "/v1/schedules",
        "/v1/templates",
        "/v1/dead-letters/replay",
        "/v1/suppressions",
        "/v1/recipients/maria/contacts",
    ],
)
def test_a_body_that_is_no_object_is_told_so(caller: Caller, path: str, body: bytes) -> None:
    answer = caller.post(path, body)
    assert answer.status_code == 422
    assert _errors(answer) == {"": "must be a JSON object"}


@pytest.mark.parametrize(
    ("method", "path", "body", "pointer"),
    [
        ("PUT", "/v1/recipients/maria", {"locale": "german"}, "/locale"),
        ("PUT", "/v1/recipients/maria", {"timezone": "Berlin"}, "/timezone"),
        ("PUT", "/v1/recipients/maria", {"contacts": [{"channel": "sms"}]}, "/contacts/0/address"),
        ("PATCH", "/v1/recipients/maria/preferences", {"caps": {"sms": "3"}}, "/caps/sms"),
        ("PATCH", "/v1/recipients/maria/preferences", {"quiet_hours": [{}]}, "/quiet_hours/0/"),
        ("POST", "/v1/dead-letters/replay", {}, "/ids"),
        ("POST", "/v1/suppressions", {"channel": "sms", "address": "123"}, "/address"),
        ("POST", "/v1/templates", {"template_id": "a b", "texts": []}, "/template_id"),
        ("POST", "/v1/schedules", {"name": "n", "rrule": "DAILY"}, "/notification"),
    ],
)
def test_a_mistake_elsewhere_is_pointed_at(
    caller: Caller, method: str, path: str, body: dict[str, Any], pointer: str
) -> None:
    answer = caller.send(method, path, body)
    assert answer.status_code == 422, answer.content
    assert [each for each in _errors(answer) if each.startswith(pointer)], answer.content


@pytest.mark.parametrize(
    ("path", "pointer", "words"),
    [
        ("/v1/notifications?statuss=sent", "/statuss", "did you mean status?"),
        ("/v1/notifications?limit=0&since=x", "/limit", "must be at least 1"),
        ("/v1/notifications?status=gone", "/status/0", "must be one of"),
        ("/v1/search", "/address", "exactly one"),
        ("/v1/suppressions?address=a@example.com", "/channel", "exactly one channel is required"),
    ],
)
def test_a_mistake_in_a_query_is_pointed_at(
    caller: Caller, path: str, pointer: str, words: str
) -> None:
    answer = caller.get(path)
    assert answer.status_code == 422
    assert words in _errors(answer)[pointer]
    assert {error["source"] for error in answer.json()["errors"]} == {"query"}


def test_a_header_is_pointed_at(caller: Caller) -> None:
    answer = caller.post("/v1/notifications", _GOOD, Idempotency_Key="x" * 256)
    [error] = answer.json()["errors"]
    assert (error["source"], error["pointer"]) == ("header", "/Idempotency-Key")


def test_no_content_type_is_told_what_to_send(caller: Caller) -> None:
    answer = caller._client.generic(
        "POST", "/v1/notifications", b"{}", content_type="application/x-www-form-urlencoded"
    )
    assert answer.status_code == 415
    assert "Content-Type: application/json" in answer.json()["detail"]


def test_a_wrong_content_type_is_told_the_types_of_the_path(make_caller: MakeCaller) -> None:
    caller = make_caller(scopes=("campaigns:write",))
    answer = caller.post("/v1/audience-uploads", {"user_id": "u_1"})
    assert answer.status_code == 415
    said = "send the body with Content-Type: text/csv or application/x-ndjson"
    assert answer.json()["detail"] == said


def test_what_a_producer_may_not_do_is_pointed_at(make_caller: MakeCaller) -> None:
    urgent = make_caller("urgent", priorities=[0], may_send_content=False)
    priority = urgent.post("/v1/notifications", _GOOD)
    assert (priority.status_code, list(_errors(priority))) == (403, ["/priority"])
    content = urgent.post("/v1/notifications", {**_GOOD, "priority": "P0"})
    assert (content.status_code, list(_errors(content))) == (403, ["/content"])


def test_a_scope_that_is_lacking_is_named_beside_those_that_are_held(
    make_caller: MakeCaller,
) -> None:
    answer = make_caller(scopes=("notifications:*",)).get("/v1/templates")
    assert answer.status_code == 403
    assert "templates:read; the key has notifications:*" in answer.json()["detail"]
    assert 'error="insufficient_scope"' in answer.headers["WWW-Authenticate"]


def test_a_batch_of_mistakes_lists_a_hundred_errors_and_one_for_each_item(caller: Caller) -> None:
    item = {f"x{number}": 1 for number in range(60)}
    answer = caller.post("/v1/notifications/batch", {"notifications": [item] * 10})
    counts = [len(each["problem"]["errors"]) for each in answer.json()["results"]]
    assert counts == [63, 37, *[1] * 8]


def test_every_pattern_of_a_request_has_words(caller: Caller) -> None:  # noqa: ARG001 - its settings
    found = set[str]()

    def walk(part: object) -> None:
        if isinstance(part, dict):
            if isinstance(part.get("pattern"), str):
                found.add(part["pattern"])
            for inner in part.values():
                walk(inner)
        elif isinstance(part, list):
            for inner in part:
                walk(inner)

    walk(schema.document()["components"]["schemas"])
    ours = {pattern for pattern in found if "/(hour|day)" not in pattern}
    assert ours - set(request_faults.PATTERNS) <= {r"^([01][0-9]|2[0-3]):[0-5][0-9]$"}
