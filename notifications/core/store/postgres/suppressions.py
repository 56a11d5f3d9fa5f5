"""The suppression list: add addresses, look up addresses, and undo entries.

Bounces and complaints are added by `store.postgres.dead_contacts`. A row is never deleted: the row
keeps author, undo, times and reason. An undo removes one reason only, so START cannot make a
bounced number valid.
"""

from __future__ import annotations

import re
from collections.abc import Collection, Sequence
from dataclasses import dataclass
from typing import Final

from django.contrib.postgres.expressions import ArraySubquery
from django.db import transaction
from django.db.models import F, Func, OuterRef, Q, QuerySet, Value
from django.db.models.functions import Now
from django.db.models.lookups import Exact

from notifications.core.models import ApiKey, Contact, Suppression
from notifications.core.models.suppression import LONGEST_BY, LONGEST_NOTE
from notifications.core.rules import addresses
from notifications.core.rules.lane import Mode
from notifications.core.rules.suppression import CALLED_DEAD, Cause
from notifications.core.store.postgres import contacts_by_address, db, locks, merged_recipients
from notifications.core.store.postgres.contact_book import ENDED
from notifications.core.store.redis import metric_counters
from providers.contract import Channel

_MADE_BY_KEY: Final = re.compile(r"producer .* \((nk_\w+)\)")
_BY_THEMSELVES: Final = frozenset({Cause.STOP_KEYWORD, Cause.UNSUBSCRIBE_ALL})
"""Causes of the recipient's own making."""


@dataclass(frozen=True, slots=True, kw_only=True)
class SuppressionEntry:
    """An address to enter."""

    channel: Channel
    address: str
    cause: Cause
    note: str = ""


def add(
    entries: Sequence[SuppressionEntry], *, by: str, provider: str = "", are_opt_outs: bool = True
) -> int:
    """Add addresses; return the number of new entries for the reason.

    Args:
        entries: the addresses, each with its cause.
        by: the author of the entries.
        provider: the provider that reported the addresses, if any.
        are_opt_outs: False for a list of the past, which the counter of opt-outs leaves out.
    """
    if not entries:
        return 0
    parameters = {
        **_arrays(entries),
        "notes": [each.note[:LONGEST_NOTE] for each in entries],
        "provider": provider,
        "by": by[:LONGEST_BY],
    }
    added = [Cause(row["reason"]) for row in db.fetch_in_own_transaction("suppress", parameters)]
    if are_opt_outs:
        metric_counters.count_opt_outs(cause for cause in added if cause in _BY_THEMSELVES)
    return len(added)


def count_new(entries: Sequence[SuppressionEntry]) -> int:
    """Return the number of new entries for `add`."""
    (row,) = db.rows("count_new_suppressions", _arrays(entries))
    return int(row["new"])


def _arrays(entries: Sequence[SuppressionEntry]) -> dict[str, object]:
    return {
        "channels": [int(each.channel) for each in entries],
        "addresses": [addresses.search_key(each.channel, each.address) for each in entries],
        "reasons": [each.cause.value for each in entries],
    }


def of_address(channel: Channel, address: str) -> QuerySet[Suppression]:
    """Return all rows of an address in any spelling, including undone rows."""
    listed = addresses.search_key(channel, address)
    spelled = Func(Value(int(channel)), Value(listed), function="suppressible")
    return Suppression.objects.filter(channel=channel, address=spelled)


def of_term(term: str) -> QuerySet[Suppression]:
    """Return all rows of an address in any spelling, of every channel."""
    return Suppression.objects.filter(address__in=addresses.search_keys(term))


def enter(entry: SuppressionEntry, *, by: str) -> Suppression:
    """Add an address; return the new or existing entry, also if it is undone meanwhile."""
    add([entry], by=by)
    rows = of_address(entry.channel, entry.address).filter(reason=entry.cause)
    return rows.order_by(F("undone_at").desc(nulls_first=True))[0]  # a row is never deleted


def was_made_by(row: Suppression, producer_id: int) -> bool:
    """Return True if a key of the producer added the row: `producer orders (nk_live_4f9k2m7q)`."""
    found = _MADE_BY_KEY.fullmatch(row.created_by)
    mine = ApiKey.objects.filter(producer_id=producer_id)
    return found is not None and mine.filter(prefix=found[1]).exists()


def with_causes(contacts: QuerySet[Contact]) -> QuerySet[Contact]:
    """Annotate contacts for `causes_of`; served by `suppression_by_address`."""
    entries = Suppression.objects.filter(
        Exact(OuterRef("recipient__mode"), Mode.LIVE),
        channel=OuterRef("channel"),
        address=Func(OuterRef("channel"), OuterRef("address"), function="suppressible"),
        undone_at=None,
    ).order_by("reason")
    return contacts.annotate(suppressed_for=ArraySubquery(entries.values("reason")))


def causes_of(contact: Contact) -> list[Cause]:
    """Return the causes of a `with_causes` contact's suppression; empty without suppression."""
    return [Cause(each) for each in getattr(contact, "suppressed_for", ())]


def lock(opted: Collection[tuple[Channel, str]]) -> None:
    """Let other changes of the opt-outs of addresses wait until the open transaction ends.

    A return (START) that finds no entry and an opt-out that is not committed yet would otherwise
    miss each other, and the later of the two would be lost.
    """
    keys = {
        f"opt-out {channel.value} {addresses.search_key(channel, each)}" for channel, each in opted
    }
    locks.wait_for_transaction(keys)


def come_back(channel: Channel, address: str, *, cause: Cause, by: str, note: str) -> bool:
    """Undo the opt-out of a recipient; False without an opt-out.

    Without an opt-out an undone entry is stored if a recipient has the address, so that a late
    report of an earlier opt-out does not count (`opted_out_contacts`).
    """
    with transaction.atomic():
        lock([(channel, address)])
        if undo(of_address(channel, address).filter(reason=cause), by=by, note=note):
            return True
        key = addresses.search_key(channel, address)
        known = contacts_by_address.of_keys([key]).filter(channel=channel)
        if known.filter(recipient__mode=Mode.LIVE).exists():
            Suppression.objects.create(
                channel=channel,
                address=key,
                reason=cause,
                created_by=by[:LONGEST_BY],
                undone_at=Now(),
                undone_by=by[:LONGEST_BY],
                undo_note=note[:LONGEST_NOTE],
            )
    return False


def undo(rows: QuerySet[Suppression], *, by: str, note: str) -> int:
    """Undo the active rows among `rows`; return the count.

    A contact that a provider reported dead becomes valid again once neither bounce nor complaint is
    left. Other contacts are made valid in admin.
    """
    with transaction.atomic():
        chosen = list(rows.filter(undone_at=None).order_by("pk").select_for_update())
        Suppression.objects.filter(pk__in=[each.pk for each in chosen]).update(
            undone_at=Now(), undone_by=by[:LONGEST_BY], undo_note=note[:LONGEST_NOTE]
        )
        for each in chosen:
            if each.reason in CALLED_DEAD:
                _revalidate(each, by=by[:LONGEST_BY])
    return len(chosen)


def _revalidate(undone: Suppression, *, by: str) -> None:
    same = Suppression.objects.filter(channel=undone.channel, address=undone.address)
    if same.filter(reason__in=CALLED_DEAD, undone_at=None).exists():
        return
    contacts_by_address.of_keys([undone.address]).filter(
        recipient__mode=Mode.LIVE, channel=undone.channel
    ).exclude(
        Q(invalid_reason__in=ENDED)
        | Q(invalid_reason__startswith=merged_recipients.REASON)
        | Q(invalidated_at=None)
    ).update(invalidated_at=None, invalid_reason="", changed_at=Now(), changed_by=by)
