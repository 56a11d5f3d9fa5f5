"""A contact follows an address that a provider has replaced, unless a person changed it before."""

from __future__ import annotations

from collections.abc import Callable
from uuid import UUID

import pytest

from notifications.core.delivery import deliver
from notifications.core.models import AuditEntry, Contact, TemplateText
from notifications.core.rules.states import Status
from notifications.core.store.postgres import dead_contacts
from notifications.core.store.postgres.dead_contacts import NewAddress
from providers.contract import Accepted, Channel
from tests.journey import Accept, Reach, deliveries_of, routed_to_scripted

OLD, NEW = "tgram://123:token/-1234", "tgram://123:token/-1001557912345"
MOVE = NewAddress(OLD, NEW)


def test_a_contact_gets_the_address_that_replaced_its_own(
    outbox: Callable[[UUID], object],
    reach: Reach,
    take: Accept,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    del outbox  # its settings come first
    reach(chat=OLD)
    text = TemplateText.objects.select_related("template")[0]
    TemplateText.objects.create(
        template=text.template, channel=Channel.CHAT, title=text.title, body=text.body
    )
    with routed_to_scripted(monkeypatch, Channel.CHAT) as telegram:
        telegram.answer = lambda batch: (
            (each, Accepted(message_id="815", new_address=NEW)) for each in batch
        )
        [row] = deliveries_of(take(channels=["chat"]))
        deliver.deliver([row.id])
    row.refresh_from_db()
    assert row.status == Status.SENT
    contact = Contact.objects.get()
    assert (contact.address, contact.changed_by, contact.is_primary) == (NEW, "scripted", True)
    assert contact.changed_at is not None
    assert contact.invalidated_at is None
    [entry] = AuditEntry.objects.filter(operation="move_contact")
    assert (entry.by, entry.object_id, entry.before["address"], entry.after["address"]) == (
        *("scripted", str(contact.pk)),
        *("tg…34", "tg…45"),
    )


def test_a_change_during_the_call_wins(reach: Reach) -> None:
    contact = reach(chat="tgram://123:token/77").contacts.get()
    dead_contacts.record_moves({contact.pk: MOVE}, provider="apprise")
    contact.refresh_from_db()
    assert (contact.address, contact.changed_by) == ("tgram://123:token/77", "")
    assert not AuditEntry.objects.filter(operation="move_contact").exists()


def test_only_the_moved_contacts_change_and_a_repeat_changes_nothing(reach: Reach) -> None:
    moved, other = reach("maria", chat=OLD).contacts.get(), reach("jo", chat=OLD).contacts.get()
    for _ in range(2):
        dead_contacts.record_moves({moved.pk: MOVE}, provider="apprise")
        moved.refresh_from_db()
        assert (moved.address, moved.changed_by) == (NEW, "apprise")
    assert AuditEntry.objects.filter(operation="move_contact").count() == 1
    other.refresh_from_db()
    assert (other.address, other.changed_at) == (OLD, None)


def test_a_recipient_with_the_new_address_keeps_both_contacts(reach: Reach) -> None:
    old, new = reach(chat=[OLD, NEW]).contacts.order_by("pk")
    dead_contacts.record_moves({old.pk: MOVE}, provider="apprise")
    assert [each.address for each in Contact.objects.order_by("pk")] == [OLD, NEW]
    assert new.changed_at is None
