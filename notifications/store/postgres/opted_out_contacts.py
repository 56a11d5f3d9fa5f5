"""Contacts whose recipient opted out at the provider.

The live address enters the suppression list with the cause of the recipient's own opt-out on the
channel: of an SMS as after STOP, which START undoes; of an e-mail as after the unsubscribe link,
whose page undoes it. The contact stays valid, because the address works.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final
from uuid import UUID

from notifications.models import Contact, Delivery
from notifications.rules.lane import Mode
from notifications.rules.suppression import Cause
from notifications.store.postgres import suppressions
from notifications.store.postgres.suppressions import SuppressionEntry
from providers.contract import Channel

_CAUSES: Final[Mapping[int, Cause]] = {
    Channel.SMS: Cause.STOP_KEYWORD,
    Channel.EMAIL: Cause.UNSUBSCRIBE_ALL,
}


def record(notes: Mapping[int, str], *, provider: str) -> int:
    """Suppress the addresses of contacts, by contact id; return the number of new entries.

    Safe to run twice: an active entry stays as it is.
    """
    if not notes:
        return 0
    live = Contact.objects.filter(pk__in=notes, recipient__mode=Mode.LIVE, channel__in=_CAUSES)
    entries = [
        SuppressionEntry(
            channel=Channel(channel), address=address, cause=_CAUSES[channel], note=notes[key]
        )
        for key, channel, address in live.values_list("pk", "channel", "address")
    ]
    return suppressions.add(entries, by=provider, provider=provider)


def record_of_deliveries(notes: Mapping[UUID, str], *, provider: str) -> int:
    """Suppress the addresses of deliveries; ignores deliveries of other providers."""
    if not notes:
        return 0
    theirs = Delivery.objects.filter(id__in=notes, provider=provider)
    pairs = theirs.values_list("id", "contact_id")
    return record(
        {contact: notes[each] for each, contact in pairs if contact is not None}, provider=provider
    )
