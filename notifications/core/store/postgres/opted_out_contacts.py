"""Contacts of recipients opted out at the provider.

The live address enters the suppression list with the cause of the recipient's own opt-out on the
channel: of an SMS or a chat as after STOP, until START; of an e-mail as after the unsubscribe link,
until the undo on the page of the link. The contact stays valid, because the address works.
"""

from __future__ import annotations

import datetime as dt
from collections.abc import Mapping
from typing import Final, NamedTuple
from uuid import UUID

from django.db import transaction

from notifications.core.models import Contact, Delivery
from notifications.core.rules import ids
from notifications.core.rules.lane import Mode
from notifications.core.rules.suppression import Cause
from notifications.core.store.postgres import attempts, suppressions
from notifications.core.store.postgres.suppressions import SuppressionEntry
from providers.contract import Channel

CAUSES: Final[Mapping[int, Cause]] = {
    Channel.SMS: Cause.STOP_KEYWORD,
    Channel.CHAT: Cause.STOP_KEYWORD,
    Channel.EMAIL: Cause.UNSUBSCRIBE_ALL,
}
"""Cause of an opt-out that a provider reports, by channel."""


class OptOut(NamedTuple):
    """A provider's report that the recipient of a call had opted out."""

    note: str
    at: dt.datetime | None
    """Time of the opt-out, or of the claim or the start of the call that found it; None: the start
    of the last stored call."""


def record(opt_outs: Mapping[int, OptOut], *, provider: str) -> int:
    """Suppress the addresses of contacts, by contact id; return the number of new entries.

    A report can come late or again, after START or an operator's undo. An opt-out therefore counts
    only if no such entry of the address was undone after the opt-out. Safe to run twice.
    """
    if not opt_outs:
        return 0
    with transaction.atomic():
        return _record(opt_outs, provider)


def _record(opt_outs: Mapping[int, OptOut], provider: str) -> int:
    live = Contact.objects.filter(pk__in=opt_outs, recipient__mode=Mode.LIVE, channel__in=CAUSES)
    found = list(live.values_list("pk", "channel", "address"))
    suppressions.lock([(Channel(channel), address) for _, channel, address in found])
    entries = [
        SuppressionEntry(
            channel=Channel(channel),
            address=address,
            cause=CAUSES[channel],
            note=opt_outs[key].note,
        )
        for key, channel, address in found
        if not _was_undone(channel, address, since=opt_outs[key].at)
    ]
    return suppressions.add(entries, by=provider, provider=provider)


def record_of_deliveries(opt_outs: Mapping[UUID, OptOut], *, provider: str) -> int:
    """Suppress the addresses of deliveries; ignores deliveries of other providers."""
    if not opt_outs:
        return 0
    theirs = Delivery.objects.filter(id__in=opt_outs, provider=provider)
    started = attempts.last_began(opt_outs)
    newest: dict[int, OptOut] = {}
    for key, contact in theirs.values_list("id", "contact_id"):
        if contact is None:
            continue
        found = opt_outs[key]
        at = found.at or started.get(key) or ids.time_of(key)
        known = newest.get(contact)
        if known is None or known.at is None or known.at < at:
            newest[contact] = OptOut(found.note, at)
    return record(newest, provider=provider)


def _was_undone(channel: int, address: str, *, since: dt.datetime | None) -> bool:
    """Return True if an opt-out of the address was undone after an instant."""
    if since is None:
        return False
    rows = suppressions.of_address(Channel(channel), address)
    return rows.filter(reason=CAUSES[channel], undone_at__gt=since).exists()
