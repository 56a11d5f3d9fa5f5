"""Dead addresses: many at once, the first word counts."""

from __future__ import annotations

import pytest

from notifications.core.models import Contact, Recipient
from notifications.core.store.postgres import dead_contacts
from notifications.core.store.postgres.dead_contacts import DeadReport
from providers.contract import Channel


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
