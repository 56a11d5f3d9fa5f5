"""Alerts in the admin: open ones first, links, acknowledge and resolve."""

from __future__ import annotations

import datetime as dt
import re

import pytest
from django.contrib.auth.models import User
from django.test import Client
from django.urls import reverse

from notifications.core import clock
from notifications.core.models import Alert, AuditEntry
from notifications.core.rules import alert_links
from notifications.core.rules.alerts import AlertKind
from notifications.core.store.postgres import alerts

LIST = reverse("admin:notifications_alert_changelist")


def page_of(alert: Alert) -> str:
    return alert_links.own_page_of(alert.pk)


def raised(kind: AlertKind, subject: str = "") -> Alert:
    alerts.raise_once(kind, subject, "for the test")
    return Alert.objects.get(kind=kind, subject=subject, resolved_at=None)


@pytest.mark.parametrize("kind", AlertKind)
def test_the_links_of_every_kind_lead_to_pages(kind: AlertKind, door: Client) -> None:
    subjects = {
        AlertKind.SCHEDULE_FAILED: "12",
        AlertKind.WEBHOOK_PAUSED: "webhook endpoint 12",
        AlertKind.BULK_JOB_ABORTED: "01900000-0000-7000-8000-000000000000",
    }
    path = alert_links.page_of(kind.value, subjects.get(kind, "sandbox email"))
    answer = door.get(path)
    # Django answers 302 to the admin's front page for a row that does not exist, and to the list
    # without a filter for a filter that does not exist. An unknown path has no name.
    missing = 404 if kind is AlertKind.BULK_JOB_ABORTED else 302
    assert answer.status_code == (missing if kind in subjects else 200), path
    assert kind not in subjects or answer.resolver_match.url_name, path
    assert alert_links.runbook_of(kind.value).endswith(f"operations.html#{kind}")


@pytest.mark.parametrize("detail", ["the credentials are refused", ""])
def test_a_line_of_the_list_explains_the_alert_once(door: Client, detail: str) -> None:
    alerts.raise_once(AlertKind.PROVIDER_MISCONFIGURED, "ses email", detail)
    page = door.get(LIST).content.decode()
    columns = re.findall(r'<th[^>]*class="[^"]*column-(\w+)', page)
    assert columns == ["name", "urgency", "explanation", "owner", "state", "raised_at"]
    meaning = AlertKind.PROVIDER_MISCONFIGURED.sentence
    assert page.count(detail or meaning) == 1
    assert (meaning in page) is not bool(detail)


def test_the_list_has_open_causes_and_hides_covered_and_resolved_alerts(door: Client) -> None:
    raised(AlertKind.PROVIDER_MISCONFIGURED, "ses email")
    raised(AlertKind.BREAKER_OPEN, "ses email")
    raised(AlertKind.SWEEP_OFF, "relay")
    alerts.resolve(AlertKind.SWEEP_OFF, "relay")
    alerts.link_causes()
    page = door.get(LIST).content.decode()
    assert "A provider refuses our account: ses email" in page
    assert "A provider fails and is paused: ses email" not in page
    assert "A sweep is switched off: relay" not in page
    assert (
        "A provider fails and is paused: ses email"
        in door.get(LIST, {"state": "covered"}).content.decode()
    )
    assert (
        "A sweep is switched off: relay" in door.get(LIST, {"state": "resolved"}).content.decode()
    )


def test_an_alert_has_a_page_with_links_and_its_covered_alerts(door: Client) -> None:
    cause = raised(AlertKind.PROVIDER_MISCONFIGURED, "ses email")
    covered = raised(AlertKind.BREAKER_OPEN, "ses email")
    alerts.link_causes()
    page = door.get(page_of(cause)).content.decode()
    assert "/docs/operations.html#provider_misconfigured" in page
    assert alert_links.page_of(cause.kind, cause.subject) in page
    assert page_of(covered) in page
    assert page_of(cause) in door.get(page_of(covered)).content.decode()
    alerts.resolve(AlertKind.PROVIDER_MISCONFIGURED, "ses email")
    alerts.link_causes()
    covered.refresh_from_db()
    assert covered.cause is None, "the end of the cause uncovers the alert"


def test_an_operator_acknowledges_an_alert_for_some_hours(door: Client, window: Client) -> None:
    alert = raised(AlertKind.NO_PROVIDER, "email")
    button = reverse("admin:notifications_alert_acknowledge", args=[alert.pk])
    assert window.post(button, {"hours": "2"}).status_code == 403
    assert "Hours without a reminder" in door.get(button).content.decode()
    given = {"hours": "2", "owner": "mail team", "note": "The vendor repairs it."}
    assert door.post(button, given).status_code == 302
    alert.refresh_from_db()
    assert (alert.owner, alert.acknowledged_by) == ("mail team", "operator")
    assert alert.note == "The vendor repairs it."
    assert alert.acknowledged_until is not None
    assert alert.acknowledged_until > clock.now() + dt.timedelta(hours=1)
    assert "acknowledged" in door.get(LIST).content.decode()
    entry = AuditEntry.objects.filter(operation="acknowledge_alert").get()
    assert entry.by == "operator"
    assert "The vendor" not in str(entry.after), "a note can hold an address"


def test_an_alert_that_comes_back_is_not_acknowledged(operator: User) -> None:
    first = raised(AlertKind.NO_PROVIDER, "email")
    until = clock.now() + dt.timedelta(hours=4)
    rows = Alert.objects.filter(pk=first.pk)
    assert alerts.acknowledge(rows, by=operator.get_username(), until=until) == 1
    alerts.resolve(AlertKind.NO_PROVIDER, "email")
    assert alerts.acknowledge(rows, by="late", until=until) == 0
    again = raised(AlertKind.NO_PROVIDER, "email")
    assert (again.acknowledged_until, again.owner) == (None, "")


def test_the_overview_links_each_alert_to_its_own_page(door: Client) -> None:
    ticket = raised(AlertKind.SWEEP_OFF, "relay")
    page = raised(AlertKind.CLOCK_SKEW, "web-1")
    from notifications.core.admin.alerts import overview  # noqa: PLC0415 - the admin of other apps goes first

    assert [row["alert"] for row in overview()] == [page, ticket], "pages come first"
    shown = door.get(reverse("admin:index")).content.decode()
    assert page_of(page) in shown
    assert page_of(ticket) in shown


def test_the_button_of_the_page_resolves_the_alert(door: Client) -> None:
    alert = raised(AlertKind.NO_PROVIDER, "email")
    button = reverse("admin:notifications_alert_resolve_one", args=[alert.pk])
    assert "raised again if its cause lasts" in door.get(button).content.decode()
    door.post(button)
    alert.refresh_from_db()
    assert alert.resolved_at is not None
