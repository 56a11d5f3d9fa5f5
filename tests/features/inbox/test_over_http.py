"""A producer sends an in-app message, the app reads it, and the producer sees the status."""

from __future__ import annotations

import dataclasses
from typing import Any
from uuid import UUID

import pytest
from django.test import Client

from notifications.core import clock, conf
from notifications.core.delivery import deliver, routing
from notifications.core.models import Producer
from notifications.core.rules import access
from notifications.core.rules.lane import Mode
from notifications.core.store.cached import recipient_ids
from notifications.features.inbox import reports_sweep
from providers.contract import Channel
from tests.api.conftest import EVERYTHING, Caller

JSON = "application/json"

pytestmark = pytest.mark.django_db(transaction=True)


@pytest.fixture
def shop(monkeypatch: pytest.MonkeyPatch) -> Caller:
    """A producer with every scope, where the channel in_app goes to the inbox."""
    given = conf.current()
    changed = dataclasses.replace(given, routes={**given.routes, Channel.IN_APP: "inbox"})
    monkeypatch.setattr(conf, "current", lambda: changed)
    routing.forget()
    recipient_ids.forget()
    producer = Producer.objects.create(name="shop", may_send_content=True)
    useless = access.useless(EVERYTHING, Mode.LIVE)
    shop = Caller(producer, mode=Mode.LIVE, scopes=EVERYTHING - frozenset(useless))
    assert shop.send("PUT", "/v1/recipients/ana", {"locale": "en"}).status_code == 201
    return shop


def _send(shop: Caller, **fields: object) -> str:
    content = {
        "title": "Invitation",
        "body": "Ana, do you come?",
        "actions": [{"id": "accept", "label": "I come"}],
    }
    sent = {"user_id": "ana", "type": "INVITATION", "priority": "P1", "channels": ["in_app"]}
    answer = shop.post("/v1/notifications", {**sent, "content": content, **fields})
    assert answer.status_code == 202, answer.content
    told = answer.json()
    deliver.deliver([UUID(each["delivery_id"]) for each in told["deliveries"]])
    return str(told["notification_id"])


def _status(shop: Caller, notification_id: str) -> str:
    reports_sweep.run_once(now=clock.now(), limit=100)
    detail: dict[str, Any] = shop.get(f"/v1/notifications/{notification_id}").json()
    [delivery] = detail["deliveries"]
    return str(delivery["status"])


def _app(shop: Caller) -> Client:
    scopes = {"scopes": ["inbox:read", "inbox:write"]}
    token = shop.post("/v1/recipients/ana/client-tokens", scopes).json()["token"]
    return Client(headers={"Authorization": f"Bearer {token}"})


def test_a_message_is_sent_seen_and_read(shop: Caller) -> None:
    app = _app(shop)
    empty = app.get("/v1/inbox/me/unread-count")
    notification = _send(shop, inbox_data={"event": 7})
    assert _status(shop, notification) == "sent"
    tag = {"If-None-Match": empty.headers["ETag"]}
    counts = app.get("/v1/inbox/me/unread-count", headers=tag).json()
    assert (counts["unread"], counts["unseen"], counts["version"]) == (1, 1, 1)
    page = app.get("/v1/inbox/me").json()
    [message] = page["results"]
    assert message["notification_id"] == notification
    assert (message["title"], message["data"]) == ("Invitation", {"event": 7})
    path = f"/v1/inbox/me/{message['message_id']}"
    assert app.post(f"{path}/seen", content_type=JSON).json()["counts"]["unseen"] == 0
    assert _status(shop, notification) == "delivered"
    assert app.post(f"{path}/read", content_type=JSON).json()["counts"]["unread"] == 0
    assert _status(shop, notification) == "read"
    changes = app.get(f"/v1/inbox/me/changes?since={page['version']}").json()
    [changed] = changes["results"]
    assert changed["read_at"] is not None
    assert shop.get("/v1/inbox/ana/unread-count").json() == {
        **changes["counts"],
        "version": changes["version"],
    }


def test_a_pressed_button_reads_the_message(shop: Caller) -> None:
    app, notification = _app(shop), _send(shop)
    [message] = app.get("/v1/inbox/me").json()["results"]
    answer = app.post(f"/v1/inbox/me/{message['message_id']}/actions/accept", content_type=JSON)
    assert (answer.status_code, answer.json()["counts"]["unread"]) == (200, 0)
    assert _status(shop, notification) == "read"


def test_each_message_counts_once_in_a_page_that_is_kept(shop: Caller) -> None:
    app = _app(shop)
    sent = [_send(shop) for _ in range(3)]
    for _ in range(2):  # the second page comes from the state Redis
        shown = [each["notification_id"] for each in app.get("/v1/inbox/me").json()["results"]]
        assert shown == sent[::-1]
    told = app.post("/v1/inbox/me/read-all", content_type=JSON).json()
    assert app.get("/v1/inbox/me").json()["counts"] == told["counts"]
    assert {_status(shop, each) for each in sent} == {"read"}
