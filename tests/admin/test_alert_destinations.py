"""Alert destinations in the admin: an encrypted URL, a filter, a test alert."""

from __future__ import annotations

import pytest
from django.test import Client
from django.urls import reverse

from notifications.core.alerting import destinations
from notifications.core.models import AlertDestination, AuditEntry
from providers.alert_destinations import destination
from tests.providers.fakes import HttpFake

KEY = "0123456789abcdef0123456789ABCDEF"
ADD = reverse("admin:notifications_alertdestination_add")
GIVEN = {"name": "oncall", "minimum_severity": "page", "kinds": ["no_provider"], "is_active": "on"}


def page_of(row: AlertDestination) -> str:
    return reverse("admin:notifications_alertdestination_change", args=[row.pk])


def test_an_operator_adds_a_destination_and_never_sees_its_url_again(door: Client) -> None:
    refused = door.post(ADD, {**GIVEN, "url": "gopher://x"})
    assert "Not allowed: a URL of a destination starts with" in refused.content.decode()
    assert door.post(ADD, {**GIVEN, "url": f"pagerduty://{KEY}"}).status_code == 302
    row = AlertDestination.objects.get()
    assert (row.name, row.target, row.kinds) == ("oncall", "pagerduty us", ["no_provider"])
    page = door.get(page_of(row)).content.decode()
    assert KEY not in page
    assert row.secret not in page
    assert door.post(page_of(row), {**GIVEN, "owner": "ops", "url": ""}).status_code == 302
    row.refresh_from_db()
    assert row.owner == "ops"
    assert destinations.parse_row(row).address == KEY, "an empty URL keeps the stored URL"
    entries = str(list(AuditEntry.objects.values("before", "after")))
    assert KEY not in entries
    assert row.secret not in entries


def test_a_viewer_changes_and_tests_nothing(door: Client, window: Client) -> None:
    door.post(ADD, {**GIVEN, "url": f"pagerduty://{KEY}"})
    row = AlertDestination.objects.get()
    assert window.get(page_of(row)).status_code == 200
    assert window.post(page_of(row), {**GIVEN, "url": "mailto:x@y.example"}).status_code == 403
    button = reverse("admin:notifications_alertdestination_send_test", args=[row.pk])
    assert window.post(button).status_code == 403


@pytest.mark.parametrize(("status", "shown"), [(202, "accepted the test"), (400, "rejected 400")])
def test_the_button_sends_a_test_alert_and_shows_the_answer(
    door: Client, monkeypatch: pytest.MonkeyPatch, status: int, shown: str
) -> None:
    fake = HttpFake(key_header="x")
    try:
        fake.status = status
        origins = {"us": fake.url.removesuffix("/hook")}
        monkeypatch.setattr(destination, "PAGERDUTY_ORIGINS", origins)
        door.post(ADD, {**GIVEN, "url": f"pagerduty://{KEY}"})
        row = AlertDestination.objects.get()
        button = reverse("admin:notifications_alertdestination_send_test", args=[row.pk])
        assert "gets a test alert now" in door.get(button).content.decode()
        assert shown in door.post(button, follow=True).content.decode()
        assert len(fake.requests) == 1
    finally:
        fake.close()
