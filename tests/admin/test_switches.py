"""A switch is set in two steps with the counts in between, and resumed after a question."""

from __future__ import annotations

import datetime as dt
import re
from collections.abc import Iterator

import pytest
from django.contrib.auth.models import Permission, User
from django.contrib.postgres.functions import TransactionNow
from django.test import Client
from django.urls import reverse

from notifications.core import clock
from notifications.core.models import (
    AuditEntry,
    Delivery,
    NotificationType,
    Producer,
    Switch,
    Template,
)
from notifications.core.rules.lane import Priority
from notifications.core.rules.states import Status
from notifications.core.store.cached import switches as cached
from tests.admin.conftest import MakeDelivery

ADD = reverse("admin:notifications_switch_add")
LIST = reverse("admin:notifications_switch_changelist")
FIELDS = {"kind": "type", "value": "ORDER_SHIPPED", "reason": "the text is wrong", "minutes": "30"}


@pytest.fixture(autouse=True)
def _fresh() -> Iterator[None]:
    cached.forget()
    yield
    cached.forget()


def _set(door: Client, **fields: str) -> Switch:
    assert door.post(ADD, {**FIELDS, **fields, "confirmed": "1"}).status_code == 302
    return Switch.objects.latest("pk")


def _page(door: Client, row: Switch) -> str:
    address = reverse("admin:notifications_switch_change", args=[row.pk])
    return door.get(address).content.decode()


def test_the_question_has_the_counts_and_sets_nothing(
    door: Client, make_delivery: MakeDelivery
) -> None:
    row = make_delivery(status=Status.QUEUED)
    Delivery.objects.filter(pk=row.pk).update(due_at=TransactionNow(), priority=Priority.P0)
    page = door.post(ADD, FIELDS)
    assert [count.count for count in page.context["forecast"].values()] == [1, 0, 0, 0]
    assert "Hold type ORDER_SHIPPED, 30 minutes?" in page.content.decode()
    assert not Switch.objects.exists()


def test_a_switch_is_set_and_resumed_with_an_audit(door: Client) -> None:
    row = _set(door)
    assert row.expires_at is not None
    assert abs(row.expires_at - clock.now() - dt.timedelta(minutes=30)) < dt.timedelta(minutes=1)
    assert cached.current()
    assert "the text is wrong" in _page(door, row)
    assert "holds" in door.get(LIST).content.decode()
    resume = reverse("admin:notifications_switch_resume", args=[row.pk])
    assert "Resume type ORDER_SHIPPED?" in door.get(resume).content.decode()
    row.refresh_from_db()
    assert row.resumed_at is None
    door.post(resume)
    row.refresh_from_db()
    assert (row.resumed_by, bool(cached.current())) == ("operator", False)
    operations = AuditEntry.objects.filter(object_type="switch").order_by("pk")
    assert [entry.operation for entry in operations] == ["set_switch", "resume_switch"]


def test_the_page_warns_of_waiting_p0(door: Client, make_delivery: MakeDelivery) -> None:
    row = _set(door, minutes="")
    assert row.expires_at is None
    held = make_delivery(status=Status.SCHEDULED, reason="paused")
    due = clock.now() + dt.timedelta(minutes=5)
    Delivery.objects.filter(pk=held.pk).update(priority=Priority.P0, due_at=due, switch_id=row.pk)
    page = _page(door, row)
    assert f"{due:%Y-%m-%d %H:%M:%S}" in page
    assert "P0 1" in door.get(LIST, {"state": "active"}).content.decode()
    assert "P0 1" not in door.get(LIST, {"state": "ended"}).content.decode()


def test_a_wrong_name_is_refused_beside_its_field(door: Client) -> None:
    page = door.post(ADD, {**FIELDS, "kind": "producer", "value": "nobody"})
    assert "there is no producer with this name" in page.content.decode()
    assert not Switch.objects.exists()


def test_viewers_neither_set_nor_resume(window: Client, door: Client) -> None:
    row = _set(door)
    resume = reverse("admin:notifications_switch_resume", args=[row.pk])
    assert window.get(LIST).status_code == 200
    assert "Resume</a>" not in _page(window, row)
    assert window.get(ADD).status_code == window.post(ADD, FIELDS).status_code == 403
    assert window.post(resume).status_code == 403
    row.refresh_from_db()
    assert row.resumed_at is None


def test_hold_provider_is_enough_for_a_provider(viewer: User, window: Client) -> None:
    viewer.user_permissions.add(Permission.objects.get(codename="hold_provider"))
    assert window.post(ADD, {**FIELDS, "confirmed": "1"}).status_code == 403
    row = _set(window, kind="provider", value="sandbox")
    resume = reverse("admin:notifications_switch_resume", args=[row.pk])
    assert window.post(resume).status_code == 302
    row.refresh_from_db()
    assert row.resumed_by == "viewer"


def _options(page: str) -> list[str]:
    """Return the names that the field of the name offers."""
    shapes = r'<select name="value".*?</select>|<datalist id="id_value_names".*?</datalist>'
    found = re.findall(shapes, page, re.DOTALL)
    return [value for value in re.findall(r'<option value="([^"]*)"', found[0]) if value]


def test_the_kind_is_chosen_first(door: Client) -> None:
    page = door.get(ADD).content.decode()
    for kind in ("producer", "type", "template", "channel", "provider", "lane"):
        assert f'href="?kind={kind}"' in page
    assert "bulk_job" not in page
    assert 'name="value"' not in page
    assert 'name="value"' not in door.get(ADD, {"kind": "nonsense"}).content.decode()
    assert 'name="value"' not in door.post(ADD, {"value": "shop"}).content.decode()


@pytest.mark.parametrize(
    ("kind", "some"),
    [
        ("producer", {"shop", "order-service"}),
        ("type", {"ORDER_SHIPPED", "PROMO"}),
        ("template", {"welcome"}),
        ("channel", {"push", "sms", "email", "in_app", "webhook", "chat"}),
        ("provider", {"sandbox", "inbox"}),
        ("lane", {"p0.push", "p3.email", "test.p3.email"}),
    ],
)
def test_the_names_of_the_kind_are_listed(door: Client, kind: str, some: set[str]) -> None:
    for name in ("shop", "order-service"):
        Producer.objects.create(name=name)
    for name in ("ORDER_SHIPPED", "PROMO"):
        NotificationType.objects.create(name=name, priority=Priority.P3)
    for version in (1, 2):
        Template.objects.create(template_id="welcome", version=version)
    page = door.get(ADD, {"kind": kind}).content.decode()
    offered = _options(page)
    assert some <= set(offered)
    assert len(offered) == len(set(offered))
    assert ("Channel of the provider" in page) is (kind == "provider")


def test_a_name_is_kept_beside_its_fault_and_missing_names_are_told(door: Client) -> None:
    page = door.post(ADD, {**FIELDS, "kind": "producer", "value": "nobody"}).content.decode()
    assert "there is no producer with this name" in page
    assert '<option value="nobody" selected>' in page
    assert "the text is wrong" in page
    assert (
        "Choose the lane."
        in door.post(ADD, {**FIELDS, "kind": "lane", "value": ""}).content.decode()
    )


def test_many_names_are_completed_and_any_name_is_taken(
    door: Client, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("notifications.core.admin.names.MOST", 1)
    for name in ("a", "b"):
        Producer.objects.create(name=name)
    page = door.get(ADD, {"kind": "producer"}).content.decode()
    assert '<input type="text" name="value"' in page
    assert _options(page) == ["a"]
    assert _set(door, kind="producer", value="b").value == "b"


def test_an_operator_is_offered_the_kinds_of_the_own_rights(viewer: User, window: Client) -> None:
    viewer.user_permissions.add(Permission.objects.get(codename="hold_provider"))
    page = window.get(ADD).content.decode()
    assert "Channel of the provider" in page
    assert "sandbox" in _options(page)
    assert "Channel of the provider" in window.get(ADD, {"kind": "producer"}).content.decode()
