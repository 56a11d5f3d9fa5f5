"""What an e-mail service says later, through the door that all providers use."""

from __future__ import annotations

from collections.abc import Iterator
from uuid import uuid4

import orjson
import pytest
from django.test import Client

from notifications.core.delivery import routing
from notifications.core.models import Contact, Delivery, Recipient
from notifications.core.rules.states import Status
from tests.api.conftest import Caller

SETTINGS = {
    "NOTIFY_ANYMAIL_ESP": "postmark",
    "NOTIFY_ANYMAIL_OPTIONS": '{"server_token": "token"}',
    "NOTIFY_ANYMAIL_FROM": "no-reply@shop.example",
    "NOTIFY_ANYMAIL_WEBHOOK_SECRET": "hook:password",
}
LOGIN = "Basic aG9vazpwYXNzd29yZA=="  # hook:password


@pytest.fixture(autouse=True)
def _postmark(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    for name, value in SETTINGS.items():
        monkeypatch.setenv(name, value)
    routing.forget()
    yield
    routing.forget()


@pytest.fixture
def sent(caller: Caller, maria: Recipient) -> Delivery:
    body = {
        "user_id": maria.user_id,
        "type": "ORDER_SHIPPED",
        "priority": "P2",
        "channels": ["email"],
        "content": {"body": "On its way"},
    }
    said = caller.post("/v1/notifications", body).json()
    delivery = Delivery.objects.get(pk=said["deliveries"][0]["delivery_id"])
    Delivery.objects.filter(pk=delivery.pk).update(
        status=Status.SENT, provider="anymail", due_at=None
    )
    return delivery


def _post(delivery_id: object, *, login: str = LOGIN, **fields: str) -> tuple[int, object]:
    event = {"RecordType": "Delivery", "Metadata": {"delivery_id": str(delivery_id)}, **fields}
    answer = Client().post(
        "/v1/receipts/anymail",
        orjson.dumps(event),
        content_type="application/json",
        headers={"Authorization": login},
    )
    return answer.status_code, answer.json()


def test_a_delivery_that_arrived_is_delivered_and_a_repeat_does_no_harm(sent: Delivery) -> None:
    assert _post(sent.pk) == (200, {"receipts": 1, "matched": 1})
    assert _post(sent.pk) == (200, {"receipts": 1, "matched": 0})
    sent.refresh_from_db()
    assert sent.status == Status.DELIVERED


def test_a_hard_bounce_ends_the_address(sent: Delivery) -> None:
    assert _post(sent.pk, RecordType="Bounce", Type="HardBounce")[0] == 200
    sent.refresh_from_db()
    assert sent.status == Status.BOUNCED
    assert sent.contact_id is not None
    assert Contact.objects.filter(pk=sent.contact_id, invalidated_at__isnull=False).exists()


def test_one_for_an_unknown_message_is_only_counted() -> None:
    assert _post(uuid4()) == (200, {"receipts": 1, "matched": 0})


def test_a_stranger_moves_nothing(sent: Delivery) -> None:
    assert _post(sent.pk, login="Basic aG9vazpndWVzcw==")[0] == 401
    sent.refresh_from_db()
    assert sent.status == Status.SENT
