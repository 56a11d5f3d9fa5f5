"""Each role may do in the admin what the table says, and nothing else."""

from __future__ import annotations

import importlib
from typing import Any

import pytest
from django.contrib import admin
from django.contrib.auth.models import Group, Permission, User
from django.test import Client, RequestFactory
from django.urls import reverse
from pytest_django import DjangoAssertNumQueries

from notifications.core.models import ApiKey, Producer
from notifications.core.rules import access, roles
from notifications.core.rules.roles import RIGHTS, ROLES
from notifications.core.store.postgres import role_groups
from tests.architecture.access_page import ACTS

OPEN_TO_ALL = {"signin"}
"""Models whose own rows everybody who signs in may see."""
ACTION_LISTS = ("actions", "actions_list", "actions_detail", "actions_row")


@pytest.fixture(autouse=True)
def _registered() -> None:
    """The pages are registered when the URLs are loaded."""
    importlib.import_module("notifyproj.urls")


def member(role: str) -> User:
    user = User.objects.create_user(role, password="x", is_staff=True)
    user.groups.add(Group.objects.get(name=f"{roles.GROUP_PREFIX}{role}"))
    return User.objects.get(pk=user.pk)


def acts() -> dict[tuple[Any, str], str]:
    """Each (page, permission of a button) with its name in the table."""
    found = {}
    for page in admin.site._registry.values():
        for listed in ACTION_LISTS:
            for name in getattr(page, listed, None) or ():
                action = getattr(page, name, None) if isinstance(name, str) else None
                for permission in getattr(action, "allowed_permissions", None) or ():
                    found[page, permission] = f"{page.opts.model_name}.{permission}"
    return found


def test_each_button_of_the_admin_has_a_line_and_each_line_a_button() -> None:
    assert set(acts().values()) == set(ACTS), "add a line to tests/architecture/access_page.py"


@pytest.mark.django_db
@pytest.mark.parametrize("role", sorted(ROLES))
def test_every_cell_of_the_buttons(role: str) -> None:
    request = RequestFactory().get("/admin/")
    request.user = member(role)
    for (page, permission), act in acts().items():
        allowed = bool(getattr(page, f"has_{permission}_permission")(request))
        wanted = act.split(".")[0] in OPEN_TO_ALL or roles.grants(role, ACTS[act])
        assert allowed is wanted, f"{role}, {act}"


@pytest.mark.django_db
@pytest.mark.parametrize("role", sorted(ROLES))
def test_every_cell_of_the_rights_to_lists_and_forms(role: str) -> None:
    request = RequestFactory().get("/admin/")
    request.user = member(role)
    for model, page in admin.site._registry.items():
        name = str(model._meta.model_name)
        seen = name in OPEN_TO_ALL or roles.grants(role, f"view_{name}")
        assert page.has_view_or_change_permission(request) is seen, f"{role}, {name}"
        added = page.has_add_permission(request)
        assert not added or roles.grants(role, f"add_{name}"), f"{role}, {name}"


@pytest.mark.django_db
@pytest.mark.parametrize("role", sorted(ROLES))
def test_every_cell_of_the_lists(role: str) -> None:
    client = Client()
    client.force_login(member(role))
    for model in admin.site._registry:
        app, name = model._meta.app_label, model._meta.model_name
        answer = client.get(f"/admin/{app}/{name}/", follow=True)
        seen = answer.status_code == 200
        assert seen is (name in OPEN_TO_ALL or roles.grants(role, f"view_{name}")), (
            f"{role}, {name}"
        )
        added = client.get(f"/admin/{app}/{name}/add/").status_code == 200
        assert not added or roles.grants(role, f"add_{name}"), f"{role}, {name}"


@pytest.mark.django_db
def test_the_right_of_each_operation_is_a_right_of_the_admin() -> None:
    there = set(Permission.objects.values_list("codename", flat=True))
    assert {rule.right for rule in access.complete() if rule.right} <= there
    assert set(ACTS.values()) <= there


@pytest.mark.django_db
def test_each_right_has_its_plain_name_in_the_database() -> None:
    there = dict(Permission.objects.values_list("codename", "name"))
    assert {right: there.get(right) for right in RIGHTS} == {
        right: name for right, (_, name) in RIGHTS.items()
    }


@pytest.mark.django_db
def test_a_page_without_the_right_names_the_account_and_its_groups() -> None:
    client = Client()
    client.force_login(member("editor"))
    answer = client.get("/admin/notifications/deadletter/", headers={"Accept": "text/html"})
    text = answer.content.decode()
    assert answer.status_code == 403
    assert "You have no access to this page" in text
    assert "role: editor" in text
    assert "Back to the overview" in text


@pytest.mark.django_db
def test_every_migrate_keeps_the_groups_of_the_roles() -> None:
    group = Group.objects.get(name="role: auditor")
    group.permissions.clear()
    role_groups.keep()
    codenames = set(group.permissions.values_list("codename", flat=True))
    assert "view_notification" in codenames
    assert {name for name in codenames if not name.startswith("view_")} == set()


def test_the_page_of_a_group_reads_its_rights_in_one_query(
    door: Client, django_assert_max_num_queries: DjangoAssertNumQueries
) -> None:
    owners = Group.objects.get(name=f"{roles.GROUP_PREFIX}owner")
    assert owners.permissions.count() > 100
    with django_assert_max_num_queries(12):
        answer = door.get(reverse("admin:auth_group_change", args=[owners.pk]))
    assert answer.status_code == 200


@pytest.mark.django_db
def test_nobody_makes_a_key_that_may_do_more_than_they_may() -> None:
    producer = Producer.objects.create(name="shop")
    keeper = User.objects.create_user("keeper", password="x", is_staff=True)
    wanted = ["add_apikey", "view_apikey", "view_notification", "view_schedule", "change_schedule"]
    keeper.user_permissions.set(Permission.objects.filter(codename__in=wanted))
    client = Client()
    client.force_login(keeper)
    form = {"producer": producer.pk, "mode": 1, "note": ""}
    path = "/admin/notifications/apikey/add/"
    refused = client.post(path, form | {"scopes": ["operations:*"]})
    assert "scopes" in refused.context["adminform"].form.errors
    assert client.post(path, form | {"scopes": ["notifications:*"]}).status_code == 200
    assert ApiKey.objects.get().created_by == "keeper"


@pytest.mark.django_db
def test_an_owner_does_not_change_a_superuser(operator: User) -> None:
    client = Client()
    client.force_login(member("owner"))
    page = f"/admin/auth/user/{operator.pk}"
    assert client.post(f"{page}/change/", {"username": "taken"}).status_code == 403
    assert client.post(f"{page}/password/", {"password1": "x", "password2": "x"}).status_code == 403
    viewed = client.get("/admin/auth/user/add/")
    assert viewed.status_code == 200
