"""A recipient's own browser or app registers for push, with a recipient token."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import TYPE_CHECKING

import orjson
import pytest
from django.test import Client

from notifications.core.delivery import push_addresses, routing
from notifications.core.models import AuditEntry, Contact, Recipient
from notifications.core.store.rate_limits import address_limits
from providers.contract import Channel
from tests.api.conftest import Caller
from tests.providers.push.browser import Browser
from tests.providers.push.credentials import p256_raw

if TYPE_CHECKING:
    from django.test.client import _MonkeyPatchedWSGIResponse as Reply

PATH = "/v1/recipients/me/contacts"
DEVICE = {"channel": "push", "kind": "fcm_token", "address": "ana-phone"}


@pytest.fixture(autouse=True)
def _web_push(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    monkeypatch.setenv("NOTIFY_WEB_PUSH_PRIVATE_KEY", p256_raw())
    monkeypatch.setenv("NOTIFY_WEB_PUSH_SUBJECT", "mailto:push@shop.example")
    routing.forget()
    address_limits.forget()
    yield
    monkeypatch.undo()
    routing.forget()
    address_limits.forget()


@pytest.fixture
def ana(caller: Caller) -> Recipient:
    return Recipient.objects.create(mode=caller.mode, user_id="ana")


def _app(caller: Caller, *scopes: str) -> Client:
    wanted = {"scopes": list(scopes or ("contacts:write",))}
    answer = caller.post("/v1/recipients/ana/client-tokens", wanted)
    assert answer.status_code == 201, answer.content
    return Client(headers={"Authorization": f"Bearer {answer.json()['token']}"})


def _add(app: Client, contact: Mapping[str, object], path: str = PATH) -> Reply:
    return app.post(path, orjson.dumps(contact), content_type="application/json")


def _browser(number: int = 1) -> dict[str, object]:
    subscription = Browser(f"https://fcm.googleapis.com/fcm/send/{number}").subscription
    return {"channel": "push", "kind": "web_push", "address": subscription}


def test_a_browser_reads_the_key_and_registers_itself_once(caller: Caller, ana: Recipient) -> None:
    app, browser = _app(caller), _browser()
    assert app.get("/v1/push/web/key").json() == {"public_key": push_addresses.web_push_key()}
    first, second = _add(app, browser), _add(app, browser, "/v1/recipients/ana/contacts")
    assert (first.status_code, second.status_code) == (201, 201), first.content
    assert first.json()["id"] == second.json()["id"]
    contact = ana.contacts.get()
    assert contact.address == push_addresses.normalize("web_push", str(browser["address"]))
    assert contact.created_by == f"recipient {ana.pk} (token of {caller.key.prefix})"
    assert AuditEntry.objects.filter(operation="add_contact", object_id=str(contact.pk)).exists()
    assert app.delete(f"{PATH}/{contact.pk}").status_code == 204
    contact.refresh_from_db()
    assert contact.invalidated_at is not None
    # The same browser comes back.
    assert _add(app, browser).json()["valid"]


@pytest.mark.parametrize(
    ("contact", "field"),
    [
        ({"channel": "sms", "address": "+15551234567"}, "/channel"),
        ({"channel": "email", "address": "thief@example.com"}, "/channel"),
        ({**DEVICE, "kind": ""}, "/kind"),
        ({**DEVICE, "primary": True}, "/primary"),
        ({**DEVICE, "address": "geräte"}, "/address"),
        ({**DEVICE, "kind": "web_push"}, "/address"),
        ({**DEVICE, "kind": "expo_token"}, "/kind"),
    ],
)
def test_a_token_registers_push_addresses_only(
    caller: Caller, ana: Recipient, contact: dict[str, object], field: str
) -> None:
    answer = _add(_app(caller), contact)
    assert answer.status_code == 422
    assert [each["pointer"] for each in answer.json()["errors"]] == [field]
    assert not ana.contacts.exists()


@pytest.mark.parametrize("kind", ["", "fcm_token", "expo_token"])
def test_an_expo_push_token_tells_its_kind(caller: Caller, ana: Recipient, kind: str) -> None:
    contact = {"channel": "push", "kind": kind, "address": "ExponentPushToken[xxxxxxxxxxxx]"}
    by_app, by_key = (
        _add(_app(caller), contact),
        caller.post("/v1/recipients/ana/contacts", contact),
    )
    for answer in (by_app, by_key):
        assert (answer.status_code, answer.json()["kind"]) == (201, "expo_token"), answer.content
    assert ana.contacts.get().kind == "expo_token"


def test_a_token_needs_the_scope_and_removes_no_mailbox_and_no_stranger(
    caller: Caller, ana: Recipient
) -> None:
    mailbox = Contact.objects.create(recipient=ana, channel=Channel.EMAIL, address="a@example.com")
    maria = Recipient.objects.create(mode=caller.mode, user_id="maria")
    phone = Contact.objects.create(recipient=maria, channel=Channel.PUSH, address="phone")
    app = _app(caller)
    assert _add(_app(caller, "receipts:write"), DEVICE).status_code == 403
    assert _add(app, DEVICE, "/v1/recipients/maria/contacts").status_code == 403
    for contact in (mailbox, phone):
        assert app.delete(f"{PATH}/{contact.pk}").status_code == 404
    assert not Contact.objects.exclude(invalidated_at=None).exists()


def test_a_token_adds_up_to_twenty_devices(
    caller: Caller, ana: Recipient, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(push_addresses, "MOST", 2)
    app = _app(caller)
    devices = [{**DEVICE, "address": f"phone-{number}"} for number in range(3)]
    assert [_add(app, each).status_code for each in devices] == [201, 201, 409]
    assert _add(app, devices[0]).status_code == 201  # a known device
    ana.contacts.filter(address="phone-1").delete()
    assert _add(app, devices[2]).status_code == 201


def test_an_idempotency_key_of_an_app_takes_no_answer_of_another(
    caller: Caller, ana: Recipient
) -> None:
    key = {"Idempotency-Key": "register"}
    said = [
        _app(caller).post(PATH, orjson.dumps(DEVICE), content_type="application/json", headers=key)
        for _ in range(2)
    ]
    assert [each.status_code for each in said] == [201, 201]
    assert not any("Idempotent-Replayed" in each.headers for each in said)
    assert ana.contacts.count() == 1
