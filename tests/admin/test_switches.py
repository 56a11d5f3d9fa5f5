"""A switch is set in two steps with the counts in between, and let go with a question."""

from __future__ import annotations

import datetime as dt
from collections.abc import Iterator

import pytest
from django.contrib.auth.models import Permission, User
from django.test import Client
from django.urls import reverse

from notifications import clock
from notifications.models import AuditEntry, Delivery, Switch
from notifications.rules.lane import Priority
from notifications.rules.states import Status
from notifications.store.cached import switches as cached
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
    Delivery.objects.filter(pk=row.pk).update(due_at=clock.now(), priority=Priority.P0)
    page = door.post(ADD, FIELDS)
    assert [count.count for count in page.context["forecast"].values()] == [1, 0, 0, 0]
    assert "Hold type ORDER_SHIPPED, 30 minutes?" in page.content.decode()
    assert not Switch.objects.exists()


def test_a_switch_is_set_and_let_go_with_an_audit(door: Client) -> None:
    row = _set(door)
    assert row.expires_at is not None
    assert abs(row.expires_at - clock.now() - dt.timedelta(minutes=30)) < dt.timedelta(minutes=1)
    assert cached.current()
    assert "the text is wrong" in _page(door, row)
    assert "holds" in door.get(LIST).content.decode()
    resume = reverse("admin:notifications_switch_resume", args=[row.pk])
    assert "Let type ORDER_SHIPPED go?" in door.get(resume).content.decode()
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
    assert "Let it go" not in _page(window, row)
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
