"""Definitions of attributes in the admin."""

from __future__ import annotations

from django.test import Client
from django.urls import reverse

from notifications.core.models import Attribute


def test_an_attribute_is_defined_and_keeps_its_kind(door: Client) -> None:
    add = reverse("admin:notifications_attribute_add")
    form = {"name": "age", "kind": "number", "description": "Years."}
    assert door.post(add, form).status_code == 302
    row = Attribute.objects.get(name="age")
    assert row.created_by == "operator"
    page = reverse("admin:notifications_attribute_change", args=[row.pk])
    door.post(page, {"name": "other", "kind": "text", "description": "In years."})
    row.refresh_from_db()
    assert (row.name, row.kind, row.description) == ("age", "number", "In years.")
    for name in ("locale", "no name", "age"):
        assert door.post(add, {**form, "name": name}).status_code == 200
    assert Attribute.objects.count() == 1
