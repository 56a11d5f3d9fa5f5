"""Contacts whose recipient opted out at the provider.

The live address enters the suppression list with the cause of the recipient's own opt-out on the
channel: of an SMS as after STOP, which START undoes; of an e-mail as after the unsubscribe link,
whose page undoes it. The contact stays valid, because the address works.
"""

from __future__ import annotations

import datetime as dt
from collections.abc import Mapping
from typing import Final
from uuid import UUID

from notifications.models import Contact, Delivery
from notifications.rules import ids
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
    return _record({contact: (note, None) for contact, note in notes.items()}, provider)


def record_of_deliveries(notes: Mapping[UUID, str], *, provider: str) -> int:
    """Suppress the addresses of deliveries; ignores deliveries of other providers.

    A receipt that comes late or again is older than a START that the recipient has sent since the
    call. So an opt-out counts only if no such entry of the address was undone after the call.
    """
    if not notes:
        return 0
    theirs = Delivery.objects.filter(id__in=notes, provider=provider)
    told = {
        contact: (notes[key], at or ids.time_of(key))
        for key, contact, at in theirs.values_list("id", "contact_id", "sent_at")
        if contact is not None
    }
    return _record(told, provider)


def _record(notes: Mapping[int, tuple[str, dt.datetime | None]], provider: str) -> int:
    if not notes:
        return 0
    live = Contact.objects.filter(pk__in=notes, recipient__mode=Mode.LIVE, channel__in=_CAUSES)
    entries = [
        SuppressionEntry(
            channel=Channel(channel), address=address, cause=_CAUSES[channel], note=notes[key][0]
        )
        for key, channel, address in live.values_list("pk", "channel", "address")
        if not _was_undone(channel, address, since=notes[key][1])
    ]
    return suppressions.add(entries, by=provider, provider=provider)


def _was_undone(channel: int, address: str, *, since: dt.datetime | None) -> bool:
    """Return True if an opt-out of the address was undone after an instant."""
    if since is None:
        return False
    rows = suppressions.of_address(Channel(channel), address)
    return rows.filter(reason=_CAUSES[channel], undone_at__gt=since).exists()
