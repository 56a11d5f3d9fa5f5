"""Handing in, reading and cancelling, over the whole way to the rows."""

from __future__ import annotations

import datetime as dt
import gc
from typing import Any
from uuid import UUID

import orjson
import pytest
from django.core.handlers.wsgi import WSGIHandler
from django.test import RequestFactory

from notifications.core import clock
from notifications.core.models import (
    Delivery,
    Notification,
    Recipient,
    Rejected,
    Template,
    TemplateText,
)
from notifications.core.rules import ids
from notifications.core.rules.lane import Mode
from notifications.core.rules.sensitive import MASK
from notifications.core.rules.states import Status
from notifications.core.store.postgres import timelines
from providers.contract import Channel
from tests.api.conftest import Caller, MakeCaller

pytestmark = pytest.mark.usefixtures("maria")


def _body(**fields: object) -> dict[str, object]:
    said = {
        "user_id": "maria",
        "type": "ORDER_SHIPPED",
        "priority": "P2",
        "channels": ["email"],
        "content": {"title": "On its way", "body": "Your order has left."},
    }
    return said | fields


def _post(caller: Caller, **fields: object) -> dict[str, Any]:
    answer = caller.post("/v1/notifications", _body(**fields))
    assert answer.status_code == 202, answer.content
    said: dict[str, Any] = answer.json()
    return said


def test_a_notification_is_accepted_with_its_deliveries(caller: Caller) -> None:
    said = _post(caller)
    assert (said["status"], said["priority"]) == ("queued", "P2")
    [delivery] = said["deliveries"]
    assert (delivery["channel"], delivery["status"]) == ("email", "queued")
    row = Delivery.objects.get(pk=delivery["delivery_id"])
    assert str(row.notification_id) == said["notification_id"]


def test_the_same_key_and_body_get_the_first_answer_again(caller: Caller) -> None:
    first = caller.post("/v1/notifications", _body(), Idempotency_Key="ord-1")
    again = caller.post("/v1/notifications", _body(), Idempotency_Key="ord-1")
    assert again.json() == first.json()
    assert again.headers["Idempotent-Replayed"] == "true"
    assert "Idempotent-Replayed" not in first.headers
    assert Notification.objects.count() == 1


def test_the_header_wins_over_the_body(caller: Caller) -> None:
    caller.post("/v1/notifications", _body(idempotency_key="body"), Idempotency_Key="header")
    assert Notification.objects.get().idempotency_key == "header"


def test_the_same_key_with_another_body_is_refused(caller: Caller) -> None:
    caller.post("/v1/notifications", _body(), Idempotency_Key="ord-1")
    other = caller.post("/v1/notifications", _body(type="OTHER"), Idempotency_Key="ord-1")
    assert other.status_code == 422
    assert other.json()["code"] == "idempotency-key-reused"


@pytest.mark.parametrize("key", ["", "x" * 256, "tab\there", "é"])
def test_an_idempotency_key_that_is_none_is_refused(caller: Caller, key: str) -> None:
    assert caller.post("/v1/notifications", _body(), Idempotency_Key=key).status_code == 422


def test_an_instant_is_understood_whatever_its_offset(caller: Caller) -> None:
    instant = clock.now() + dt.timedelta(hours=1)
    offset = dt.timezone(dt.timedelta(hours=-22, minutes=-42))
    _post(caller, scheduled_at=instant.astimezone(offset).isoformat())
    assert Notification.objects.get().scheduled_at == instant


def test_an_unknown_recipient_is_refused_and_kept_for_the_operators(caller: Caller) -> None:
    answer = caller.post("/v1/notifications", _body(user_id="nobody"))
    assert answer.status_code == 422
    assert answer.json()["code"] == "unknown-recipient"
    assert Rejected.objects.get().problem == "unknown-recipient"


def test_an_invalid_request_is_kept_for_the_operators_without_its_values(caller: Caller) -> None:
    caller.post("/v1/notifications", _body(priority="P9 +4915112345678"))
    kept = Rejected.objects.get()
    assert (kept.user_id, kept.type, kept.pointers) == ("maria", "ORDER_SHIPPED", ["/priority"])
    assert "4915112345678" not in kept.detail


def test_a_request_with_a_chain_reads_its_channels_in_order(caller: Caller) -> None:
    answer = caller.post("/v1/notifications", _body(channels=[], fallback_chain=True))
    assert answer.status_code == 202, answer.json()
    found = caller.get(f"/v1/notifications/{answer.json()['notification_id']}").json()
    assert found["fallback_chain"] is True
    assert len(found["channels"]) > 1


def test_a_batch_answers_each_item_in_order(caller: Caller) -> None:
    _post(caller, idempotency_key="k1")
    items = [_body(idempotency_key="k1"), _body(), _body(user_id="nobody"), {"type": 1}]
    answer = caller.post("/v1/notifications/batch", {"notifications": items})
    assert answer.status_code == 202
    results = answer.json()["results"]
    words = [result["result"] for result in results]
    assert words == ["duplicate", "accepted", "rejected", "rejected"]
    assert results[2]["problem"]["errors"][0]["pointer"] == "/notifications/2/user_id"
    assert Notification.objects.count() == 2
    assert Rejected.objects.count() == 2


def test_a_key_of_the_whole_batch_replays_the_whole_answer(caller: Caller) -> None:
    body = {"notifications": [_body(), {"type": 1}]}
    first = caller.post("/v1/notifications/batch", body, Idempotency_Key="batch-1")
    again = caller.post("/v1/notifications/batch", body, Idempotency_Key="batch-1")
    assert again.headers["Idempotent-Replayed"] == "true"
    assert [result["result"] for result in first.json()["results"]] == ["accepted", "rejected"]
    assert again.json() == first.json()
    assert Notification.objects.count() == 1


def test_a_thousand_items_are_taken_and_one_more_is_not(make_caller: MakeCaller) -> None:
    caller = make_caller(rate_burst=5_000)
    thousand = caller.post("/v1/notifications/batch", {"notifications": [_body()] * 1_000})
    assert len(thousand.json()["results"]) == 1_000
    assert Notification.objects.count() == 1_000
    more = caller.post("/v1/notifications/batch", {"notifications": [_body()] * 1_001})
    assert more.status_code == 422


@pytest.mark.django_db(transaction=True)
def test_a_batch_leaves_nothing_to_the_garbage_collector(caller: Caller) -> None:
    factory = RequestFactory(headers={"Authorization": f"Bearer {caller.secret}"})
    raw = orjson.dumps({"notifications": [_body()] * 100})
    application = WSGIHandler()

    def post() -> None:
        asked = factory.generic("POST", "/v1/notifications/batch", raw, "application/json")
        answer = application(asked.environ, lambda *_: lambda _: None)
        assert b'"result":"accepted"' in b"".join(answer)
        answer.close()

    post()  # fills the caches
    gc.collect()
    gc.disable()
    try:
        post()
        left = gc.collect()
    finally:
        gc.enable()
    assert left < 100, "fewer objects than items are part of a reference cycle"


def test_the_trace_of_the_request_travels_with_the_notification(caller: Caller) -> None:
    trace = "4bf92f3577b34da6a3ce929d0e0e4736"
    caller.post("/v1/notifications", _body(), traceparent=f"00-{trace}-00f067aa0ba902b7-01")
    assert Notification.objects.get().traceparent.startswith(f"00-{trace}-")


def test_one_is_read_with_everything_that_became_of_it(caller: Caller) -> None:
    said = _post(caller, metadata={"order": [1, {"a": None}]})
    told = caller.get(f"/v1/notifications/{said['notification_id']}").json()
    assert told["metadata"] == {"order": [1, {"a": None}]}
    assert told["status"] == "queued"
    assert [one["channel"] for one in told["deliveries"]] == ["email"]
    assert [event["status"] for event in told["timeline"]] == ["queued"]
    assert "maria@example.com" not in orjson.dumps(told).decode()


@pytest.mark.parametrize("text", ["\\u0000", "\\\\u0000", "C:\\users\\u0000", "1e30", "\\", "\\\\"])
def test_metadata_with_backslashes_comes_back_as_it_was(caller: Caller, text: str) -> None:
    said = _post(caller, metadata={"a": text, text: 1.5})
    told = caller.get(f"/v1/notifications/{said['notification_id']}").json()
    assert told["metadata"] == {"a": text, text: 1.5}


@pytest.mark.parametrize("raw", ['"\\u0000"', '"\\\\\\u0000"', '{"a\\u0000": 1}'])
def test_metadata_with_a_nul_is_refused(caller: Caller, raw: str) -> None:
    body = orjson.dumps(_body(metadata={"a": "?"})).replace(b'"?"', raw.encode())
    assert caller.post("/v1/notifications", body).status_code == 422


@pytest.mark.parametrize("number", [10**30, -(10**20), -(10**19), -(2**63) - 1, 2**64])
def test_metadata_with_an_integer_that_would_come_back_changed_is_refused(
    caller: Caller, number: int
) -> None:
    body = orjson.dumps(_body(metadata={"a": [{"b": "?"}]})).replace(b'"?"', str(number).encode())
    answer = caller.post("/v1/notifications", body)
    assert answer.status_code == 422
    assert "text" in answer.json()["detail"]


def test_what_is_kept_of_a_refused_request_names_no_person(caller: Caller) -> None:
    fields = {"metadata": 1, "maria@example.com": 1, "+4915112345678": 1, "x" * 40: 1}
    assert caller.post("/v1/notifications", _body(**fields)).status_code == 422
    kept = Rejected.objects.get()
    assert sorted(kept.pointers) == ["/<mailbox>", "/<number>", "/<token>", "/metadata"]
    assert "maria" not in kept.detail


def test_sensitive_variables_are_masked(caller: Caller) -> None:
    template = Template.objects.create(template_id="otp", sensitive_variables=["code"])
    TemplateText.objects.create(template=template, channel=Channel.EMAIL, body="{{ code }}")
    Template.objects.filter(pk=template.pk).update(published_at=clock.now())
    said = _post(
        caller, content=None, template_id="otp", variables={"code": "913-551", "app": "shop"}
    )
    answer = caller.get(f"/v1/notifications/{said['notification_id']}")
    assert answer.json()["variables"] == {"code": MASK, "app": "shop"}
    assert b"913-551" not in answer.content


def test_another_producers_notification_is_not_there(
    caller: Caller, make_caller: MakeCaller
) -> None:
    path = f"/v1/notifications/{_post(caller)['notification_id']}"
    stranger = make_caller("marketing")
    assert stranger.get(path).status_code == 404
    assert stranger.post(f"{path}/cancel").status_code == 404
    assert stranger.get("/v1/notifications").json()["results"] == []


def test_a_test_keys_world_is_another_one(caller: Caller, make_caller: MakeCaller) -> None:
    path = f"/v1/notifications/{_post(caller)['notification_id']}"
    tester = make_caller(mode=Mode.TEST)
    assert tester.get(path).status_code == 404
    assert tester.get("/v1/recipients/maria").status_code == 404
    assert tester.post("/v1/notifications", _body()).status_code == 422


def test_cancelling_stops_what_has_not_left(caller: Caller) -> None:
    later = (clock.now() + dt.timedelta(hours=1)).isoformat()
    said = _post(caller, scheduled_at=later)
    told = caller.post(f"/v1/notifications/{said['notification_id']}/cancel").json()
    assert told["stopped"] == [said["deliveries"][0]["delivery_id"]]
    assert told["status"] == "cancelled"
    again = caller.post(f"/v1/notifications/{said['notification_id']}/cancel")
    assert (again.status_code, again.json()["stopped"]) == (200, [])


def test_cancelling_does_not_pretend_to_stop_what_was_sent(caller: Caller) -> None:
    said = _post(caller)
    Delivery.objects.update(status=Status.SENT, due_at=None)
    told = caller.post(f"/v1/notifications/{said['notification_id']}/cancel").json()
    assert (told["stopped"], told["in_flight"], told["status"]) == ([], [], "sent")


def test_cancelling_names_what_a_worker_holds(caller: Caller) -> None:
    said = _post(caller)
    Delivery.objects.update(status=Status.SENDING)
    told = caller.post(f"/v1/notifications/{said['notification_id']}/cancel").json()
    assert (told["stopped"], told["status"]) == ([], "sending")
    assert told["in_flight"] == [said["deliveries"][0]["delivery_id"]]


def test_a_list_is_newest_first_and_its_pages_meet_without_a_gap(caller: Caller) -> None:
    newest = [_post(caller)["notification_id"] for _ in range(5)][::-1]
    seen: list[str] = []
    cursor: dict[str, str] = {}
    while True:
        page = caller.get("/v1/notifications", limit=2, **cursor).json()
        seen += [line["notification_id"] for line in page["results"]]
        if page["next"] is None:
            break
        cursor = {"cursor": page["next"]}
    assert seen == newest


def test_a_list_narrows_by_person_type_status_and_time(caller: Caller) -> None:
    caller.send(
        "PUT",
        "/v1/recipients/joao",
        {"contacts": [{"channel": "email", "address": "j@example.com"}]},
    )
    mine = _post(caller, type="A")["notification_id"]
    _post(caller, type="B", user_id="joao")
    Delivery.objects.filter(pk__gt=mine, pk__lte=ids.last_delivery_of(UUID(mine))).update(
        status=Status.SENT
    )
    for query in ({"user_id": "maria"}, {"type": "A"}, {"status": "sent"}):
        found = caller.get("/v1/notifications", **query).json()["results"]
        assert [line["notification_id"] for line in found] == [mine], query
    soon = (clock.now() + dt.timedelta(minutes=1)).isoformat()
    assert caller.get("/v1/notifications", since=soon).json()["results"] == []
    assert caller.get("/v1/notifications", user_id="nobody").json()["results"] == []


def test_a_page_that_found_little_still_leads_on(
    caller: Caller, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The scan is bounded; the cursor goes on where it ended."""
    oldest = _post(caller, type="RARE")["notification_id"]
    for _ in range(4):
        _post(caller)
    monkeypatch.setattr(timelines, "SCANNED", 3)
    first = caller.get("/v1/notifications", type="RARE").json()
    assert first["results"] == []
    second = caller.get("/v1/notifications", type="RARE", cursor=first["next"]).json()
    assert [line["notification_id"] for line in second["results"]] == [oldest]
    assert second["next"] is None


def test_the_recipient_of_the_fixture_is_reachable(maria: Recipient) -> None:
    assert maria.contacts.filter(is_primary=True).count() == 2
