"""An attachment of a message is downloaded with the right to see addresses, and audited."""

from __future__ import annotations

import pytest
from django.contrib.auth.models import Permission, User
from django.test import Client
from django.urls import reverse

from notifications.core.models import AuditEntry, Delivery
from notifications.core.store.templates import files
from notifications.features.attachments.models import Attachment
from tests.admin.conftest import MakeDelivery

CONTENT = b"<script>alert(1)</script>"
NAME = "Bedingungen für maria@sandbox.example.txt"


@pytest.fixture
def delivery(make_delivery: MakeDelivery) -> Delivery:
    stored = files.store("text/plain", CONTENT)
    file = {"id": str(stored.id), "name": NAME, "type": stored.type, "size": stored.size}
    return make_delivery(attachments=[{**file, "digest": stored.digest, "of_template": True}])


def pages(delivery: Delivery) -> tuple[str, str]:
    names = ("change", "attachment")
    found = [
        reverse(f"admin:notifications_notification_{name}", args=[delivery.notification_id])
        for name in names
    ]
    return found[0], found[1]


def test_an_operator_downloads_an_attachment_and_no_page_can_run_it(
    door: Client, delivery: Delivery
) -> None:
    page, download = pages(delivery)
    shown = door.get(page).content.decode()
    assert f'href="{download}?place=0" download>{NAME}</a> (of the template)' in shown
    answer = door.get(f"{download}?place=0")
    assert answer.content == CONTENT
    assert answer["Content-Type"] == "text/plain"
    assert answer["Content-Disposition"] == (
        "attachment; filename*=utf-8''Bedingungen%20f%C3%BCr%20maria%40sandbox.example.txt"
    )
    assert answer["Content-Security-Policy"] == "default-src 'none'; sandbox"
    assert answer["X-Content-Type-Options"] == "nosniff"
    assert "no-store" in answer["Cache-Control"]
    entry = AuditEntry.objects.get()
    assert (entry.by, entry.operation) == ("operator", "download_attachment")
    assert entry.object_id == str(delivery.notification_id)
    assert entry.after is not None
    assert entry.after.keys() == {"digest", "size"}
    for place in ("", "?place=1", "?place=-1", "?place=x"):
        assert door.get(f"{download}{place}").status_code == 404
    Attachment.objects.all().delete()
    assert (
        "The service no longer has" in door.get(f"{download}?place=0", follow=True).content.decode()
    )
    assert AuditEntry.objects.count() == 1


@pytest.mark.parametrize("right", ["view_", "see_addresses"])
def test_without_both_rights_no_attachment_is_offered_or_downloaded(
    delivery: Delivery, right: str
) -> None:
    someone = User.objects.create_user("someone", password="a-long-password", is_staff=True)
    someone.user_permissions.set(Permission.objects.filter(codename__startswith=right))
    client = Client()
    client.force_login(someone)
    page, download = pages(delivery)
    shown = client.get(page).content.decode()
    assert download not in shown
    assert NAME not in shown
    assert client.get(f"{download}?place=0").status_code == 403
    assert not AuditEntry.objects.exists()
