"""Operators see a recipient's inbox as the recipient does, and change nothing by it."""

from __future__ import annotations

from uuid import uuid4

from django.contrib.auth.models import Permission, User
from django.test import Client

from notifications.core import clock
from notifications.core.models import AuditEntry, Recipient
from notifications.features.inbox.rows import reads, writes
from notifications.features.inbox.rows.items import NewItem
from notifications.features.inbox.rules.words import InboxAction


def _add(person: Recipient, title: str, body: str = "Call +15551234567") -> NewItem:
    item = NewItem(
        id=uuid4(),
        recipient_id=person.pk,
        notification_id=uuid4(),
        type="ORDER_READY",
        category="orders",
        title=title,
        body=body,
        url="/orders/1",
        actions=[{"id": "track", "label": "Track it", "url": None}],
        created_at=clock.now(),
    )
    writes.add([item])
    return item


def _page(person: Recipient, query: str = "") -> str:
    return f"/admin/notifications/recipient/{person.pk}/inbox/{query}"


def test_an_operator_sees_the_inbox_and_marks_nothing(door: Client, maria: Recipient) -> None:
    _add(maria, "Your order is ready")
    old = _add(maria, "An old one")
    writes.mark(maria.pk, InboxAction.ARCHIVE, ids=[old.id])
    before = reads.counts(maria.pk)
    card = door.get(f"/admin/notifications/recipient/{maria.pk}/change/").content.decode()
    assert "1 message, 1 unread, 1 new" in card
    assert _page(maria) in card
    page = door.get(_page(maria)).content.decode()
    assert "Your order is ready" in page
    assert "Track it" in page
    assert "+15551234567" in page
    assert "An old one" not in page
    assert "An old one" in door.get(_page(maria, "?tab=archived")).content.decode()
    assert reads.counts(maria.pk) == before
    audited = AuditEntry.objects.filter(operation="see_inbox").order_by("pk")
    assert [each.after for each in audited] == [{"tab": "inbox"}, {"tab": "archived"}]


def test_addresses_are_masked_and_texts_need_the_right(
    window: Client, viewer: User, maria: Recipient
) -> None:
    _add(maria, "Your order is ready")
    page = window.get(_page(maria)).content.decode()
    assert "Your order is ready" in page
    assert "+15551234567" not in page
    viewer.user_permissions.remove(Permission.objects.get(codename="view_delivery"))
    assert window.get(_page(maria)).status_code == 403
    card = window.get(f"/admin/notifications/recipient/{maria.pk}/change/").content.decode()
    assert _page(maria) not in card
    assert AuditEntry.objects.filter(operation="see_inbox").count() == 1
