"""Recipients: dead addresses, and a registration beside an erasure."""

from __future__ import annotations

import pytest
from django.db import transaction

from notifications.core import conf
from notifications.core.models import Contact, Recipient
from notifications.core.rules.lane import Mode
from notifications.core.rules.recipient import To
from notifications.core.store.postgres import dead_contacts, recipients_by_address
from notifications.core.store.postgres.dead_contacts import DeadReport
from providers.contract import Channel
from tests.interleaving import before


@pytest.mark.django_db
def test_a_batch_of_dead_addresses_keeps_each_ones_first_reason() -> None:
    person = Recipient.objects.create(user_id="maria")
    first, second, well = (
        Contact.objects.create(
            recipient=person, channel=Channel.PUSH, address=name, is_primary=name == "a"
        )
        for name in "abc"
    )
    dead_contacts.invalidate(
        {first.pk: DeadReport("fcm: UNREGISTERED"), second.pk: DeadReport("x" * 300)},
        provider="fcm",
    )
    dead_contacts.invalidate(
        {first.pk: DeadReport("another"), 0: DeadReport("nobody's")}, provider="fcm"
    )
    for each in (first, second, well):
        each.refresh_from_db()
    assert (first.invalid_reason, first.is_primary) == ("fcm: UNREGISTERED", False)
    assert second.invalid_reason == "x" * 200
    assert well.invalidated_at is None


@pytest.mark.django_db(transaction=True)
def test_a_recipient_who_is_erased_during_the_registration_is_registered_again() -> None:
    to = To(email="maria@example.com")
    known = Recipient.objects.create(user_id=to.user_id(key=conf.current().hash_key))
    with (
        before(('FROM "notifications_recipient"', Recipient.objects.filter(pk=known.pk).delete)),
        transaction.atomic(),
    ):
        found = recipients_by_address.ensure(Mode.LIVE, {to}, by="test")[to]
    assert found.is_new
    assert Contact.objects.get().recipient_id == found.id != known.pk
