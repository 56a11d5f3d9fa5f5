"""The page of the costs of a month."""

from __future__ import annotations

import pytest
from django.test import Client
from django.urls import reverse

from notifications.core import clock
from notifications.core.models import Producer
from tests.figures.conftest import _store as store_rollup

PAGE = reverse("admin:notifications_costs")


def test_the_page_and_its_csv_have_the_costs(door: Client) -> None:
    shop = Producer.objects.create(name="<shop>")
    store_rollup(clock.now(), {"cost_micros": 2_500_000}, producer_id=shop.pk, country="")
    page = door.get(PAGE).content.decode()
    assert "$2.50 so far" in page
    assert "&lt;shop&gt;" in page
    assert "nc-title" not in page, "the header has the title"
    answer = door.get(PAGE, {"csv": "producer"})
    text = b"".join(answer).decode()
    assert text.splitlines()[1] == f"{clock.now():%Y-%m},<shop>,,2.5"


@pytest.mark.parametrize("query", [{"month": "2026-13"}, {"month": "2999-01"}, {"csv": "user"}])
def test_a_wrong_query_is_refused(door: Client, query: dict[str, str]) -> None:
    assert door.get(PAGE, query).status_code == 400


@pytest.mark.parametrize(
    ("path", "title"),
    [
        ("admin:notifications_costs", "Costs"),
        ("admin:notifications_budget_changelist", "Budgets"),
        ("admin:notifications_budget_add", "Budgets"),
        ("admin:notifications_workers", "Workers"),
        ("admin:index", "Overview"),
    ],
)
def test_the_menu_marks_the_item_of_the_page(door: Client, path: str, title: str) -> None:
    groups = door.get(reverse(path)).context["sidebar_navigation"]
    parts = [part for group in groups for part in (group["items"], group["folded"])]
    marked = [each["title"] for part in parts for each in part if each["active"]]
    assert marked == [title]
