"""What the sandbox says later, over the path that every provider uses."""

from __future__ import annotations

import datetime as dt
import os
from collections.abc import Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, Any
from uuid import uuid4

import orjson
import pytest
from django.test import Client

from notifications.core import clock
from notifications.core.api.body_limits import MEBIBYTE
from notifications.core.delivery import routing
from notifications.core.models import Delivery, Recipient, Suppression
from notifications.core.rules.states import Status
from notifications.core.store.redis import last_receipts, state
from providers import registry, sandbox, standard_webhooks
from providers.contract import Provider, Receipt, ReceiptRequest
from providers.errors import CannotVerify
from providers.transport import Transport
from tests.api.conftest import Caller
from tests.vendors import Alias, AliasVendor

if TYPE_CHECKING:
    from django.test.client import _MonkeyPatchedWSGIResponse as Reply

PATH = "/v1/receipts/sandbox"


_LINE = {"kind": "delivered", "message_id": "sbx-1", "occurred_at": "2026-06-10T10:30:00Z"}


def _send(body: bytes, **replaced: str) -> Reply:
    headers = standard_webhooks.sign(
        body,
        message_id="msg_1",
        at=clock.now(),
        secrets=[standard_webhooks.Secret.parse(os.environ["NOTIFY_SANDBOX_SECRET"])],
    )
    named = headers | {name.replace("_", "-"): value for name, value in replaced.items()}
    return Client().post(PATH, body, content_type="application/json", headers=named)


def _receipt(
    delivery_id: object, kind: str = "delivered", *, occurred_at: dt.datetime | None = None
) -> bytes:
    line = {
        "kind": kind,
        "delivery_id": str(delivery_id),
        "message_id": "sbx-1",
        "occurred_at": (occurred_at or clock.now()).isoformat(),
    }
    return orjson.dumps({"receipts": [line]})


@pytest.fixture
def sent(caller: Caller, maria: Recipient) -> Delivery:
    body = {
        "user_id": maria.user_id,
        "type": "ORDER_SHIPPED",
        "priority": "P2",
        "channels": ["email"],
        "content": {"body": "On its way"},
    }
    said: dict[str, Any] = caller.post("/v1/notifications", body).json()
    delivery = Delivery.objects.get(pk=said["deliveries"][0]["delivery_id"])
    Delivery.objects.filter(pk=delivery.pk).update(
        status=Status.SENT, provider="sandbox", due_at=None
    )
    return delivery


class _Unverifiable(Alias):
    def parse_receipt(self, request: ReceiptRequest) -> Sequence[Receipt]:
        raise CannotVerify(request.url)


class _UnverifiableVendor(AliasVendor):
    def configure(self, environ: Mapping[str, str], *, transport: Transport) -> Provider:
        inner = sandbox.VENDOR.configure(environ, transport=transport)
        return _Unverifiable(name=self.name, inner=inner, capabilities=inner.capabilities)


@pytest.fixture
def unverifiable(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    """A provider whose certificate cannot be fetched now."""
    monkeypatch.setattr(
        registry, "VENDORS", (*registry.VENDORS, _UnverifiableVendor(name="unverifiable"))
    )
    routing.forget()
    yield
    monkeypatch.undo()
    routing.forget()


def test_a_signed_receipt_moves_its_delivery(sent: Delivery) -> None:
    answer = _send(_receipt(sent.pk))
    assert answer.json() == {"receipts": 1, "matched": 1}
    sent.refresh_from_db()
    assert sent.status == Status.DELIVERED


def test_a_receipt_leaves_its_time_for_operators_and_a_forged_one_does_not(sent: Delivery) -> None:
    with state.connection() as redis:
        redis.delete("receipts:last")
    last_receipts.forget()
    _send(_receipt(sent.pk), webhook_signature="v1,Zm9yZ2Vk")
    assert last_receipts.load() == {}
    _send(_receipt(sent.pk))
    assert list(last_receipts.load()) == ["sandbox"]


@pytest.mark.django_db(transaction=True)  # now() of Postgres is the start of a transaction
def test_the_timeline_shows_the_time_of_the_provider_and_the_seconds_to_each_stage(
    caller: Caller, sent: Delivery
) -> None:
    _send(_receipt(sent.pk, occurred_at=clock.now() + dt.timedelta(days=2)))
    read_at = clock.now()
    _send(_receipt(sent.pk, "read", occurred_at=read_at))
    said: dict[str, Any] = caller.get(f"/v1/notifications/{sent.notification_id}").json()
    wrong, right = said["timeline"][-2:]
    assert dt.datetime.fromisoformat(wrong["occurred_at"]) > clock.now() + dt.timedelta(days=1)
    assert dt.datetime.fromisoformat(right["occurred_at"]) == read_at
    stages = {each["stage"]: each for each in said["deliveries"][0]["stages"]}
    assert list(stages) == ["accepted", "delivered", "read"]
    assert stages["accepted"]["at"] == said["created_at"]
    assert (stages["delivered"]["source"], stages["read"]["source"]) == ("service", "receipt")
    assert stages["delivered"]["at"] == wrong["at"], "a wrong clock is not used"
    accepted_at = dt.datetime.fromisoformat(said["created_at"])
    expected = round((read_at - accepted_at).total_seconds(), 3)
    assert stages["read"]["seconds_since_accept"] == expected


def test_a_repeated_receipt_does_no_harm(sent: Delivery) -> None:
    _send(_receipt(sent.pk))
    assert _send(_receipt(sent.pk)).json()["matched"] == 0


def test_a_receipt_for_an_unknown_message_is_only_counted() -> None:
    assert _send(_receipt(uuid4())).json() == {"receipts": 1, "matched": 0}


def test_a_forged_receipt_is_unauthenticated_and_moves_nothing(sent: Delivery) -> None:
    forged = _send(_receipt(sent.pk), webhook_signature="v1," + "A" * 43 + "=")
    assert forged.status_code == 401
    sent.refresh_from_db()
    assert sent.status == Status.SENT


@pytest.mark.parametrize(
    "body",
    [
        b"",
        b"{}",
        b"null",
        b"\xff",
        b"[" * 5_000,
        b'{"receipts": 1}',
        b'{"receipts": [{}]}',
        orjson.dumps({"receipts": [_LINE | {"delivery_id": "x"}]}),
    ],
)
def test_a_signed_receipt_that_cannot_be_read_is_malformed(body: bytes) -> None:
    assert _send(body).status_code == 400


def test_a_receipt_that_is_too_large_is_not_read() -> None:
    assert _send(b" " * (MEBIBYTE + 1)).status_code == 413


@pytest.mark.parametrize("provider", ["nobody", "%00", "a" * 500])
def test_a_provider_that_is_not_configured_is_not_there(provider: str) -> None:
    assert (
        Client().post(f"/v1/receipts/{provider}", b"{}", content_type="text/xml").status_code == 404
    )


@pytest.mark.usefixtures("unverifiable")
def test_a_callback_that_cannot_be_checked_now_is_to_come_again() -> None:
    head = {"webhook-id": "a", "webhook-timestamp": "1", "webhook-signature": "v1,x"}
    answer = Client().post(
        "/v1/receipts/unverifiable", b"{}", content_type="application/json", headers=head
    )
    assert (answer.status_code, answer.headers["Retry-After"]) == (503, "30")


def test_a_stop_from_the_sandbox_suppresses_its_number_and_is_answered_with_nothing() -> None:
    text = {"from": "+4915112345678", "to": "sandbox", "text": "STOP", "message_id": "in-1"}
    answer = _send(orjson.dumps({"receipts": [], "texts": [text]}))
    assert (answer.status_code, answer.content) == (204, b"")
    row = Suppression.objects.get()
    assert (row.address, row.reason) == ("+4915112345678", "stop_keyword")
