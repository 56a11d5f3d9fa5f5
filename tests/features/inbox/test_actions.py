"""Pressed buttons of in-app messages: the event, the webhook and the read item, once each."""

from __future__ import annotations

from uuid import uuid4

import orjson
import pytest

from notifications.core.models import Delivery, Event, Recipient, WebhookMessage
from notifications.core.rules.lane import Mode
from notifications.core.webhooks import calls
from notifications.features.inbox import actions
from notifications.features.inbox.actions import ActionResult
from notifications.features.inbox.rows import reads
from tests.features.inbox.test_reports import in_app
from tests.providers.fakes import HttpFake
from tests.store.stored_rows import MakeDelivery
from tests.webhooks.conftest import MakeEndpoint, _private_addresses, fake, make_endpoint, make_fake

__all__ = ["_private_addresses", "fake", "make_endpoint", "make_fake"]
pytestmark = pytest.mark.django_db(transaction=True)


def test_a_pressed_button_is_one_event_and_one_webhook(
    make_endpoint: MakeEndpoint,
    fake: HttpFake,
    make_delivery: MakeDelivery,
) -> None:
    make_endpoint(fake.url, events=["inbox.action"])
    make_endpoint(f"{fake.url}/other", events=["notification.sent"])
    item = in_app(make_delivery)
    recipient = Delivery.objects.get(pk=item).recipient_id
    for _ in range(2):
        assert actions.record(recipient, item, "yes") is ActionResult.RECORDED
    [event] = Event.objects.filter(delivery_id=item, reason="inbox_action")
    assert (event.detail, event.status) == ("yes", None)
    assert WebhookMessage.objects.count() == 1
    calls.work_off()
    [request] = fake.requests
    said = orjson.loads(request.body)
    assert said["type"] == "inbox.action"
    assert (said["data"]["action_id"], said["data"]["delivery_id"]) == ("yes", str(item))
    assert (said["data"]["reason"], said["data"]["channel"]) == ("inbox_action", "in_app")
    assert said["data"]["user_id"] == "maria"
    assert reads.counts(recipient).unread == 0


def test_an_unknown_message_or_action_is_said_and_changes_nothing(
    make_delivery: MakeDelivery,
) -> None:
    item = in_app(make_delivery)
    recipient = Delivery.objects.get(pk=item).recipient_id
    other = Recipient.objects.create(user_id="other", mode=Mode.LIVE)
    assert actions.record(recipient, item, "no") is ActionResult.UNKNOWN_ACTION
    assert actions.record(recipient, uuid4(), "yes") is ActionResult.UNKNOWN_MESSAGE
    assert actions.record(other.pk, item, "yes") is ActionResult.UNKNOWN_MESSAGE
    assert not Event.objects.filter(reason="inbox_action").exists()
    assert reads.counts(recipient).unread == 1
