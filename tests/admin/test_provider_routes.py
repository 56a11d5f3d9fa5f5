"""Routes are edited by who may, and only to what can work."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import pytest
from django.db import IntegrityError
from django.test import Client
from django.urls import reverse

from notifications.core.delivery import routing
from notifications.core.models import AuditEntry, ProviderRoute
from providers import registry
from providers.contract import Channel
from tests.vendors import AliasVendor

ADD = reverse("admin:notifications_providerroute_add")
LIST = reverse("admin:notifications_providerroute_changelist")
WHOLE = {
    "channel": Channel.SMS.value,
    "region": "+49",
    "platform": "",
    "provider": "sandbox",
    "rank": 0,
    "weight": 1,
    "is_enabled": "on",
}
PUSH = {"channel": Channel.PUSH.value, "region": ""}


@pytest.fixture(autouse=True)
def _fcm(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    """A second provider, which takes one kind of address of one channel."""
    takes = {"channels": frozenset({Channel.PUSH}), "address_kinds": frozenset({"fcm_token"})}
    vendor = AliasVendor(name="fcm", takes=takes)
    monkeypatch.setattr(registry, "VENDORS", (*registry.VENDORS, vendor))
    routing.forget()
    yield
    routing.forget()


def test_a_route_is_made_and_changed_in_the_list(door: Client) -> None:
    door.post(ADD, WHOLE)
    row = ProviderRoute.objects.get()
    assert (row.region, row.provider, row.is_enabled) == ("+49", "sandbox", True)
    changed = {
        "form-TOTAL_FORMS": 1,
        "form-INITIAL_FORMS": 1,
        "form-0-id": row.pk,
        "form-0-rank": 2,
        "form-0-weight": 30,
        "_save": "Save",
    }
    door.post(LIST, changed)
    entry = AuditEntry.objects.get(operation="change_providerroute")
    assert (entry.by, entry.object_id) == ("operator", str(row.pk))
    assert (entry.before["rank"], entry.after["rank"], entry.after["weight"]) == (0, 2, 30)
    assert entry.after["is_enabled"] is False
    row.refresh_from_db()
    assert (row.rank, row.weight, row.is_enabled) == (2, 30, False)


@pytest.mark.parametrize(
    ("typed", "told"),
    [
        ({"provider": "twilio"}, "twilio is not one of the available choices"),
        ({"provider": "fcm"}, "fcm supports only: push."),
        ({**PUSH, "provider": "fcm", "platform": "apns_token"}, "fcm supports only: fcm_token."),
        ({"region": "49"}, "Write the beginning of a number, like +49."),
        ({"channel": Channel.EMAIL.value}, "Only SMS has regions"),
        ({"weight": 0}, "greater than or equal to 1"),
    ],
)
def test_what_the_router_would_pass_by_is_refused(
    door: Client, typed: dict[str, Any], told: str
) -> None:
    answer = door.post(ADD, WHOLE | typed)
    assert told in answer.content.decode()
    assert not ProviderRoute.objects.exists()


def test_a_provider_stands_once_in_a_place(door: Client) -> None:
    door.post(ADD, WHOLE)
    again = door.post(ADD, WHOLE)
    assert "There is a row for this provider in this place already." in again.content.decode()
    assert ProviderRoute.objects.count() == 1


@pytest.mark.parametrize("wrong", [{"channel": Channel.PUSH}, {"weight": 0}, {"region": "x"}])
@pytest.mark.usefixtures("db")
def test_the_database_refuses_it_too(wrong: dict[str, Any]) -> None:
    row = {"channel": Channel.SMS, "region": "+49", "provider": "sandbox", **wrong}
    with pytest.raises(IntegrityError):
        ProviderRoute.objects.create(**row)


def test_the_list_says_which_rows_the_router_passes_by(door: Client) -> None:
    ProviderRoute.objects.create(channel=Channel.SMS, provider="twilio")
    ProviderRoute.objects.create(channel=Channel.EMAIL, provider="sandbox", is_enabled=False)
    page = door.get(LIST).content.decode()
    assert "not configured" in page
    assert "push by sandbox" in page
    row = ProviderRoute.objects.get(provider="twilio")
    own = door.get(reverse("admin:notifications_providerroute_change", args=[row.pk]))
    assert '<option value="twilio" selected>' in own.content.decode()


def test_who_may_only_look_changes_nothing(window: Client) -> None:
    assert window.get(LIST).status_code == 200
    assert window.post(ADD, WHOLE).status_code == 403
    assert not ProviderRoute.objects.exists()
