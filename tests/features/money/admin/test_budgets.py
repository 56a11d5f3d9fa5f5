"""Budgets and prices are edited in the admin."""

from __future__ import annotations

import pytest
from django.test import Client
from django.urls import reverse

from notifications.core import clock
from notifications.core.models import AuditEntry, Budget, BudgetDay, Price, Producer
from providers.contract import Channel

LIST = reverse("admin:notifications_budget_changelist")
ADD = reverse("admin:notifications_budget_add")
WHOLE = {
    "producer": "",
    "channel": Channel.SMS.value,
    "amount_micros": "5",
    "alert_percent": 80,
    "is_hard": "on",
    "timezone": "Europe/Berlin",
}


@pytest.fixture(autouse=True)
def _no_budget(db: None) -> None:  # noqa: ARG001 - pytest-django asks for it by name
    Budget.objects.all().delete()


def test_a_budget_is_added_changed_and_listed(door: Client) -> None:
    assert door.post(ADD, WHOLE).status_code == 302
    row = Budget.objects.get()
    today = clock.now().astimezone().date()
    BudgetDay.objects.create(budget=row, day=today, used_micros=1_250_000)
    page = door.get(LIST).content.decode()
    assert "overall sms" in page
    assert "$5.00" in page
    url = reverse("admin:notifications_budget_change", args=[row.pk])
    changed = {"amount_micros": "9.000001", "alert_percent": 50, "timezone": "UTC"}
    assert door.post(url, changed).status_code == 302
    row.refresh_from_db()
    # The scope and the days of a budget stay, because its ledgers have them.
    assert (row.amount_micros, row.is_hard, row.timezone) == (9_000_001, False, "Europe/Berlin")
    entry = AuditEntry.objects.get(operation="change_budget")
    assert (entry.before["amount_micros"], entry.after["amount_micros"]) == (5_000_000, 9_000_001)


@pytest.mark.parametrize(
    ("field", "value", "said"),
    [
        ("timezone", "Mars", "timezone is unknown"),
        ("amount_micros", "-1", "greater than or equal"),
        ("amount_micros", "1e30", "less than or equal"),
        ("amount_micros", "NaN", "Enter a number"),
        ("amount_micros", "Infinity", "Enter a number"),
        ("amount_micros", "0.0000001", "no more than 6 decimal places"),
        ("amount_micros", "", "required"),
    ],
)
def test_a_wrong_budget_is_refused(field: str, value: object, said: str, door: Client) -> None:
    answer = door.post(ADD, {**WHOLE, field: value})
    assert said in answer.content.decode()
    assert not Budget.objects.exists()


def test_a_second_budget_of_the_same_scope_is_refused(door: Client) -> None:
    Producer.objects.create(name="shop")
    door.post(ADD, WHOLE)
    assert door.post(ADD, WHOLE).status_code == 200
    assert Budget.objects.count() == 1


def test_a_price_is_added_and_listed(door: Client) -> None:
    url = reverse("admin:notifications_price_add")
    body = {"channel": Channel.SMS.value, "country": "DE", "provider": "", "micros": "0.0895"}
    answer = door.post(url, {**body, "country": "Germany", "valid_from": "2026-01-01"})
    assert answer.status_code == 200
    assert door.post(url, {**body, "valid_from": "2026-01-01"}).status_code == 302
    assert Price.objects.get().micros == 89_500
    change = reverse("admin:notifications_price_change", args=[Price.objects.get().pk])
    assert 'value="0.0895"' in door.get(change).content.decode()
    page = door.get(reverse("admin:notifications_price_changelist")).content.decode()
    assert "$0.0895 an SMS segment" in page
