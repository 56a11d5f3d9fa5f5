"""The lines of ordering keys can be looked at."""

from __future__ import annotations

from django.test import Client
from django.urls import reverse

from notifications.core import clock
from notifications.core.models import OrderingKey
from notifications.core.rules.lane import Mode, Priority


def test_an_ordering_key_shows_who_waits(door: Client) -> None:
    OrderingKey.objects.create(
        producer_id=1, mode=Mode.LIVE, key="order-77", priority=Priority.P1, used_at=clock.now()
    )
    page = door.get(reverse("admin:notifications_orderingkey_changelist"), {"q": "order-77"})
    assert "order-77" in page.content.decode()


def test_an_address_in_an_ordering_key_is_masked_without_the_right(
    door: Client, window: Client
) -> None:
    row = OrderingKey.objects.create(
        producer_id=1,
        mode=Mode.LIVE,
        key="maria@example.com",
        priority=Priority.P1,
        used_at=clock.now(),
    )
    pages = [
        reverse("admin:notifications_orderingkey_changelist"),
        reverse("admin:notifications_orderingkey_change", args=[row.pk]),
    ]
    for page in pages:
        assert "maria@example.com" in door.get(page).content.decode()
        masked = window.get(page).content.decode()
        assert "maria@example.com" not in masked
        assert "m***@example.com" in masked
