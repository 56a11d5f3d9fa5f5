"""A type has a name that a request can name."""

from __future__ import annotations

import pytest
from django.test import Client
from django.urls import reverse

from notifications.core.models import NotificationType

LIST = reverse("admin:notifications_notificationtype_changelist")
ADD = reverse("admin:notifications_notificationtype_add")
pytestmark = pytest.mark.django_db


def test_a_name_that_no_request_can_name_is_refused(door: Client) -> None:
    for name, count in (("ORDER/SHIPPED", 0), ("ORDER_SHIPPED", 1)):
        door.post(ADD, {"name": name, "priority": 1})
        assert NotificationType.objects.count() == count


def test_the_list_opens_with_a_stored_name_with_a_slash(door: Client) -> None:
    NotificationType.objects.create(name="A/B", priority=1)
    assert door.get(LIST).status_code == 200


def test_an_operator_who_may_only_view_opens_the_page_of_a_type(window: Client) -> None:
    NotificationType.objects.create(name="ORDER_SHIPPED", priority=1, category="orders")
    page = window.get(
        reverse("admin:notifications_notificationtype_change", args=["ORDER_SHIPPED"])
    )
    assert page.status_code == 200
    assert "orders" in page.content.decode()
