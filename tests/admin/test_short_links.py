"""Who followed a link is counted, and the list gives nobody's link away."""

from __future__ import annotations

import datetime as dt
from uuid import uuid4

from django.test import Client
from django.urls import reverse

from notifications.core import clock
from notifications.core.models import ShortLink

LIST = reverse("admin:notifications_shortlink_changelist")


def test_the_clicks_of_a_delivery_are_found_and_its_target_is_not_shown(door: Client) -> None:
    link = ShortLink.objects.create(
        token="tokentoken",
        delivery_id=uuid4(),
        target="https://shop.example/secret-place",
        clicks=3,
        expires_at=clock.now() + dt.timedelta(days=1),
    )
    one = reverse("admin:notifications_shortlink_change", args=[link.pk])
    listed = door.get(LIST, {"q": str(link.delivery_id)}).content.decode()
    assert str(link.delivery_id) in listed
    assert link.token not in listed
    for page in (listed, door.get(one).content.decode()):
        assert "secret-place" not in page
    assert door.get(LIST, {"token__startswith": "t"}).status_code == 400
    export = {"action": "export_csv", "_selected_action": [link.pk], "select_across": "1"}
    assert link.token not in door.post(LIST, export, follow=True).content.decode()
    assert door.get(LIST, {"q": str(uuid4())}).context["cl"].result_count == 0
