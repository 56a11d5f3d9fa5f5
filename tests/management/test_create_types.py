"""A new installation gets a type for each priority, and keeps what an operator has changed."""

from __future__ import annotations

import io

import pytest
from django.core.management import call_command

from notifications.core.models import NotificationType
from notifications.core.rules.lane import Priority

pytestmark = pytest.mark.django_db


def _create() -> str:
    out = io.StringIO()
    call_command("create_types", stdout=out)
    return out.getvalue()


def test_a_new_installation_has_a_type_of_each_priority() -> None:
    NotificationType.objects.all().delete()
    assert "OTP: P0, created" in _create()
    found = dict(NotificationType.objects.values_list("name", "priority"))
    assert found == {
        "OTP": Priority.P0,
        "ORDER_CONFIRMATION": Priority.P1,
        "LIKE": Priority.P2,
        "MARKETING": Priority.P3,
    }


def test_a_type_that_an_operator_has_changed_stays_as_it_is() -> None:
    NotificationType.objects.update_or_create(name="LIKE", defaults={"priority": Priority.P3})
    assert "LIKE: P3, exists" in _create()
    assert NotificationType.objects.get(name="LIKE").priority == Priority.P3
