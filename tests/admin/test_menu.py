"""The side menu: groups by task, rare pages folded, and each page found by its title."""

from __future__ import annotations

import importlib
import re
from typing import Any

import pytest
from django.contrib import admin
from django.contrib.auth.models import Group, User
from django.test import Client
from django.urls import reverse

from notifications.core.rules import roles
from tests.admin.conftest import ADDRESS
from tests.admin.test_roles import OPEN_TO_ALL

MOST_SHOWN = 20
"""Entries of the menu without the folded ones."""
FREQUENT = (
    *("Overview", "Activity", "Alerts", "Dead letters", "Breakers", "Switches", "Bulk jobs"),
    *("Templates", "Recipients", "Providers"),
)
ELSEWHERE = {
    "notification": "Activity",
    "delivery": "Activity and the pages of messages",
    "breakerevent": "Breakers",
}
"""List outside of the menu -> the page that leads to the list."""
RARE = ("Ordering keys", "Sweep runs", "Short links", "Lag limits", "Deploys")


def groups_of(client: Client, path: str = "") -> list[dict[str, Any]]:
    found: list[dict[str, Any]] = client.get(path or reverse("admin:index")).context[
        "sidebar_navigation"
    ]
    return found


def titles(groups: list[dict[str, Any]], part: str) -> list[str]:
    return [each["title"] for group in groups for each in group[part]]


def member(role: str) -> Client:
    user = User.objects.create_user(role, password="x", is_staff=True)
    user.groups.add(Group.objects.get(name=f"{roles.GROUP_PREFIX}{role}"))
    client = Client()
    client.force_login(user)
    return client


def test_the_groups_are_tasks_and_rare_pages_are_folded(door: Client) -> None:
    groups = groups_of(door)
    names = [group["title"] for group in groups]
    assert names == ["Watch", "Repair", "Send", "Texts", "People", "Settings", "Access"]
    shown, folded = titles(groups, "items"), titles(groups, "folded")
    assert len(shown) <= MOST_SHOWN
    assert set(FREQUENT) <= set(shown)
    assert set(RARE) <= set(folded)
    everything = [*shown, *folded]
    assert len(everything) == len(set(everything))


def test_each_list_of_the_admin_is_in_the_menu(door: Client) -> None:
    groups = groups_of(door)
    links = {each["link"] for part in ("items", "folded") for g in groups for each in g[part]}
    lists = {
        reverse(f"admin:{model._meta.app_label}_{model._meta.model_name}_changelist")
        for model in admin.site._registry
    }
    elsewhere = {reverse(f"admin:notifications_{name}_changelist") for name in ELSEWHERE}
    assert lists - links == elsewhere


def test_the_part_with_the_page_is_open_and_other_parts_are_closed(door: Client) -> None:
    page = reverse("admin:notifications_sweeprun_changelist")
    text = door.get(page).content.decode()
    opened = re.findall(r'(?s)<details class="nc-menu-folded"([^>]*)>(.*?)</details>', text)
    assert [(" open" in attributes, "Sweep runs" in inside) for attributes, inside in opened] == [
        (is_there, is_there) for is_there in ("Sweep runs" in inside for _, inside in opened)
    ]
    assert sum(" open" in attributes for attributes, _ in opened) == 1
    marked = [
        each["title"]
        for group in groups_of(door, page)
        for part in ("items", "folded")
        for each in group[part]
        if each["active"]
    ]
    assert marked == ["Sweep runs"]


@pytest.mark.django_db
@pytest.mark.parametrize("role", sorted(roles.ROLES))
def test_a_role_sees_its_own_pages_and_no_empty_group(role: str) -> None:
    importlib.import_module("notifyproj.urls")
    client = member(role)
    groups = groups_of(client)
    assert all(group["items"] or group["folded"] for group in groups)
    # `tests/admin/test_roles.py` opens each list in each role.
    lists = {
        reverse(f"admin:{model._meta.app_label}_{model._meta.model_name}_changelist"): (
            model._meta.model_name
        )
        for model in admin.site._registry
    }
    for part in ("items", "folded"):
        for group in groups:
            for each in group[part]:
                if name := lists.get(each["link"]):
                    opens = name in OPEN_TO_ALL or roles.grants(role, f"view_{name}")
                else:
                    opens = client.get(each["link"], follow=True).status_code == 200
                assert opens, each["title"]
    text = client.get(reverse("admin:index")).content.decode()
    assert text.count('<details class="nc-menu-folded"') == sum(bool(g["folded"]) for g in groups)


def test_the_search_box_finds_each_entry_by_its_title(door: Client) -> None:
    for group in groups_of(door):
        for each in (*group["items"], *group["folded"]):
            page = door.get(reverse("admin:search"), {"s": each["title"], "extended": "1"})
            links = re.findall(r'href="([^"]*)"', page.content.decode())
            assert each["link"] in links, each["title"]
            assert len(links) == len(set(links)), each["title"]


@pytest.mark.django_db
def test_the_search_box_finds_no_entry_without_its_right(window: Client, viewer: User) -> None:
    viewer.user_permissions.clear()
    page = window.get(reverse("admin:search"), {"s": "costs", "extended": "1"}).content.decode()
    assert reverse("admin:notifications_costs") not in page
    assert ADDRESS not in page
