"""Addresses that no adapter could send to, or no index could hold, are refused at every door."""

from __future__ import annotations

import secrets

import pytest
from django.contrib.auth import get_user_model
from django.test import Client

from notifications.core.models import Contact, Recipient, Suppression
from notifications.core.rules.lane import Mode
from providers.contract import Channel
from tests.api.conftest import Caller

CONTACTS = "/v1/recipients/maria/contacts"


def _letters(count: int) -> str:
    """Letters of three bytes that no compression makes shorter."""
    return "".join(chr(0x4E00 + secrets.randbelow(20_000)) for _ in range(count))


@pytest.mark.parametrize("path", [CONTACTS, "/v1/suppressions"])
def test_an_address_that_no_index_can_hold_is_the_callers_mistake(
    caller: Caller, maria: Recipient, path: str
) -> None:
    answer = caller.post(path, {"channel": "chat", "address": _letters(2_048)})
    assert answer.status_code == 422, answer.content
    assert "2600 bytes" in answer.json()["detail"]
    assert maria.contacts.count() == 2
    assert not Suppression.objects.exists()


@pytest.mark.parametrize("path", [CONTACTS, "/v1/suppressions"])
def test_the_longest_address_is_stored(caller: Caller, maria: Recipient, path: str) -> None:
    del maria
    body = {"channel": "chat", "address": _letters(866)}
    assert caller.post(path, body).status_code == 201


@pytest.mark.django_db(transaction=True)
def test_a_value_that_the_database_cannot_hold_is_no_outage(
    caller: Caller, maria: Recipient, monkeypatch: pytest.MonkeyPatch
) -> None:
    del maria
    monkeypatch.setattr("notifications.core.rules.suppression.MOST_ADDRESS_BYTES", 10_000)
    answer = caller.post(CONTACTS, {"channel": "chat", "address": _letters(2_048)})
    assert answer.status_code == 422, answer.content
    assert "Retry-After" not in answer


@pytest.mark.parametrize(
    ("channel", "address"),
    [
        (Channel.EMAIL, "andré@example.com"),
        (Channel.EMAIL, "maria@x..example"),
        (Channel.SMS, "0151"),
        (Channel.WEBHOOK, "http://10.0.0.1/"),
        (Channel.CHAT, "x" * 2_040 + "日" * 8 + "日" * 200),
    ],
)
def test_the_admins_form_takes_no_address_that_the_api_refuses(
    maria: Recipient, channel: Channel, address: str
) -> None:
    operator = Client()
    operator.force_login(get_user_model().objects.create_superuser("admin"))
    form = {"recipient": maria.pk, "channel": channel, "address": address}
    assert operator.post("/admin/notifications/contact/add/", form).status_code == 200
    assert maria.contacts.count() == 2


def test_the_admins_form_stores_a_mailbox_as_the_api_does(maria: Recipient) -> None:
    operator = Client()
    operator.force_login(get_user_model().objects.create_superuser("admin"))
    form = {"recipient": maria.pk, "channel": Channel.EMAIL, "address": "maria@faß.example"}
    answer = operator.post("/admin/notifications/contact/add/", form)
    assert answer.status_code == 302, answer.content
    assert Contact.objects.filter(address="maria@xn--fa-hia.example").exists()
    assert Recipient.objects.get().mode == Mode.LIVE
