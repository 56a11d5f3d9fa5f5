"""Each list can be exported as CSV: audited, masked, and harmless in a spreadsheet."""

from __future__ import annotations

import csv
import importlib
import io
import tracemalloc
from collections.abc import Callable
from types import ModuleType

import pytest
from django.contrib import admin
from django.contrib.auth.models import Permission, User
from django.db import connection
from django.test import Client, RequestFactory
from django.test.utils import CaptureQueriesContext

from notifications.core.models import AuditEntry, Contact, Delivery, NotificationType, Recipient
from providers.contract import Channel

MakeDelivery = Callable[..., Delivery]
ADDRESS = "maria@sandbox.example"

pytestmark = pytest.mark.django_db


@pytest.fixture(autouse=True)
def exports() -> ModuleType:
    """The module, after the URLs: the admin of other apps goes first."""
    importlib.import_module("notifyproj.urls")
    return importlib.import_module("notifications.core.admin.exports")


def export(client: Client, model: str, *, selected: list[object], everything: bool = False) -> str:
    form = {"action": "export_csv", "_selected_action": selected, "select_across": int(everything)}
    answer = client.post(f"/admin/notifications/{model}/", form)
    assert answer.status_code == 200, answer
    assert answer.headers["Content-Disposition"].startswith(f'attachment; filename="{model}-')
    return answer.getvalue().decode()


def rows(text: str) -> list[list[str]]:
    return list(csv.reader(io.StringIO(text)))


def test_a_selection_is_exported_with_the_columns_of_the_list(door: Client) -> None:
    for name in ("ORDER", "OTP", "PROMO"):
        NotificationType.objects.create(name=name, priority=1, category="orders")
    [header, *lines] = rows(export(door, "notificationtype", selected=["ORDER", "PROMO"]))
    assert header[1] == "name"
    assert [line[0] for line in lines] == ["PROMO", "ORDER"]
    entry = AuditEntry.objects.get()
    assert (entry.by, entry.operation, entry.object_name) == (
        "operator",
        "export_list",
        "notificationtype",
    )
    assert entry.after["selected"] == 2


def test_the_whole_filter_is_exported_page_by_page(
    door: Client, exports: ModuleType, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(exports, "ROWS_PER_READ", 3)
    for number in range(8):
        NotificationType.objects.create(name=f"T{number}", priority=1)
    [_, *lines] = rows(export(door, "notificationtype", selected=["T1"], everything=True))
    assert [line[0] for line in lines] == [f"T{number}" for number in reversed(range(8))]


def test_a_formula_becomes_a_text(door: Client) -> None:
    NotificationType.objects.create(name="=1+1", priority=1, category="@SUM(A1)")
    text = export(door, "notificationtype", selected=["=1+1"])
    assert "'=1+1" in text
    assert "'@SUM(A1)" in text


def test_addresses_are_plain_only_for_who_may_see_them(
    door: Client, window: Client, viewer: User, maria: Recipient
) -> None:
    contact = maria.contacts.get()
    assert ADDRESS in export(door, "contact", selected=[contact.pk])
    refused = window.post(
        "/admin/notifications/contact/", {"action": "export_csv", "_selected_action": contact.pk}
    )
    assert ADDRESS not in refused.content.decode()
    assert refused.status_code != 200 or "attachment" not in refused.headers.values()
    viewer.user_permissions.add(Permission.objects.get(codename="export_list"))
    text = export(window, "contact", selected=[contact.pk])
    assert ADDRESS not in text
    assert "m***@sandbox.example" in text


def test_the_filter_in_the_audit_log_has_no_address(door: Client, maria: Recipient) -> None:
    path = f"/admin/notifications/contact/?q={ADDRESS}"
    form = {
        "action": "export_csv",
        "_selected_action": [maria.contacts.get().pk],
        "select_across": "1",
    }
    assert ADDRESS in door.post(path, form).getvalue().decode()
    assert ADDRESS not in str(AuditEntry.objects.get().after)
    assert ADDRESS.replace("@", "%40") not in str(AuditEntry.objects.get().after)


def test_every_list_has_the_action(operator: User) -> None:
    request = RequestFactory().get("/admin/")
    request.user = operator
    without = [
        model.__name__
        for model, page in admin.site._registry.items()
        if page.actions is not None and "export_csv" not in page.get_actions(request)
    ]
    assert without == []


def test_every_list_can_be_exported(
    operator: User, exports: ModuleType, make_delivery: MakeDelivery
) -> None:
    make_delivery()
    request = RequestFactory().get("/admin/")
    request.user = operator
    for model, page in admin.site._registry.items():
        answer = exports.export_csv(page, request, page.get_queryset(request))
        lines = rows(answer.getvalue().decode())
        assert len(lines) >= 1, model
        assert len({len(line) for line in lines}) == 1, model


def test_the_activity_is_exported_with_all_pages(
    door: Client,
    window: Client,
    exports: ModuleType,
    make_delivery: MakeDelivery,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr("notifications.core.admin.activity.PER_PAGE", 2)
    monkeypatch.setattr(exports, "ROWS_PER_READ", 2)
    made = {str(make_delivery().pk) for _ in range(5)}
    path = "/admin/notifications/notification/activity/"
    assert "Export all of them as CSV" in door.get(path).content.decode()
    answer = door.get(path, {"export": "csv"})
    [header, *lines] = rows(answer.getvalue().decode())
    assert header[-1] == "delivery_id"
    assert {line[-1] for line in lines} == made
    assert len(lines) == len(made)
    assert window.get(path, {"export": "csv"}).status_code == 403


def test_an_export_needs_the_memory_and_the_queries_of_its_pages(
    door: Client, maria: Recipient
) -> None:
    Contact.objects.bulk_create(
        Contact(recipient=maria, channel=Channel.PUSH, address=f"token-{number}")
        for number in range(10_000)
    )
    form = {"action": "export_csv", "_selected_action": [1], "select_across": "1"}
    answer = door.post("/admin/notifications/contact/", form)
    tracemalloc.start()
    try:
        with CaptureQueriesContext(connection) as queries:
            count = sum(1 for _ in iter(answer))
        _, peak_bytes = tracemalloc.get_traced_memory()
    finally:
        tracemalloc.stop()
    assert count == 10_002
    assert len(queries) <= 12
    assert peak_bytes < 16 * 1024 * 1024
