"""Bodies of messages: a contact without its address, and a body that cannot be encoded."""

from __future__ import annotations

import orjson
import pytest

from notifications.core.models import (
    Contact,
    Delivery,
    Notification,
    Producer,
    Recipient,
    WebhookAttempt,
    WebhookMessage,
)
from notifications.core.rules import ids
from notifications.core.rules.lane import Mode
from notifications.core.rules.transitions import ACCEPT, CLAIM
from notifications.core.rules.webhook_events import MessageState
from notifications.core.store.postgres import dead_contacts, transitions
from notifications.core.store.postgres.dead_contacts import DeadReport
from notifications.core.store.postgres.transitions import ANYONE, Move
from notifications.core.webhooks import calls, fan_out
from tests.providers.fakes import HttpFake
from tests.store.stored_rows import MakeDelivery
from tests.webhooks.conftest import MakeEndpoint

pytestmark = pytest.mark.django_db(transaction=True)


def invalidate(make_delivery: MakeDelivery) -> Contact:
    row = Delivery.objects.get(pk=make_delivery())
    assert row.contact_id is not None
    dead_contacts.invalidate({row.contact_id: DeadReport("smtp: 550")}, provider="smtp")
    dead_contacts.invalidate({row.contact_id: DeadReport("smtp: 551")}, provider="smtp")
    return Contact.objects.get(pk=row.contact_id)


def test_an_accepted_and_a_sent_delivery_have_a_sentence(
    make_endpoint: MakeEndpoint, fake: HttpFake, make_delivery: MakeDelivery
) -> None:
    make_endpoint(fake.url)
    delivery_id = make_delivery()
    transitions.apply(CLAIM, [Move(id=delivery_id)], ANYONE)
    transitions.apply(ACCEPT, [Move(id=delivery_id)], ANYONE)
    while fan_out.work_off():
        pass
    calls.work_off()
    data = [orjson.loads(each.body)["data"] for each in fake.requests]
    assert {each["status"]: each["message"] for each in data} == {
        "queued": "The service accepted the notification.",
        "sent": "The provider accepted the message.",
    }
    assert {each["producer"] for each in data} == {Producer.objects.get().name}


def test_an_invalid_contact_is_one_message_without_the_address(
    make_endpoint: MakeEndpoint, fake: HttpFake, make_delivery: MakeDelivery
) -> None:
    make_endpoint(fake.url)
    contact = invalidate(make_delivery)
    calls.work_off()
    [request] = fake.requests
    said = orjson.loads(request.body)
    assert said["type"] == "contact.invalidated"
    assert said["data"] | {"occurred_at": ""} == {
        "contact_id": contact.pk,
        "user_id": "maria",
        "channel": "email",
        "reason": "smtp: 550",
        "message": "A provider reported the address as dead; the contact is invalid.",
        "occurred_at": "",
    }
    assert b"maria@sandbox.example" not in request.body


def test_only_endpoints_of_the_mode_that_want_the_event_learn_of_a_contact(
    make_endpoint: MakeEndpoint, fake: HttpFake, make_delivery: MakeDelivery
) -> None:
    wants = make_endpoint(fake.url, events=["contact.invalidated"])
    make_endpoint(f"{fake.url}/other", events=["notification.sent"])
    make_endpoint(f"{fake.url}/test", mode=Mode.TEST)
    make_endpoint(f"{fake.url}/off", state="disabled")
    make_endpoint("")
    invalidate(make_delivery)
    assert [each.endpoint_id for each in WebhookMessage.objects.all()] == [wants.pk]


def test_an_erased_contact_ends_its_message(
    make_endpoint: MakeEndpoint, fake: HttpFake, make_delivery: MakeDelivery
) -> None:
    make_endpoint(fake.url)
    invalidate(make_delivery)
    Contact.objects.all().delete()
    Recipient.objects.all().delete()
    calls.work_off()
    assert fake.requests == []
    assert WebhookMessage.objects.get().state == MessageState.FAILED.value


def test_a_message_that_cannot_be_encoded_ends_alone(
    make_endpoint: MakeEndpoint, fake: HttpFake, make_delivery: MakeDelivery
) -> None:
    endpoint = make_endpoint(fake.url)
    fan_out.work_off()
    broken, fine = make_delivery(), make_delivery()
    found = Notification.objects.filter(id=ids.notification_of(broken))
    found.update(metadata={"number": 2**70})
    fan_out.work_off()
    assert calls.work_off() == 2
    states = dict(WebhookMessage.objects.values_list("delivery_id", "state"))
    assert states == {broken: MessageState.FAILED, fine: MessageState.SENT}
    assert len(fake.requests) == 1
    assert WebhookAttempt.objects.get(http_status=None).error == "not_encodable"
    endpoint.refresh_from_db()
    assert endpoint.failures == 0
