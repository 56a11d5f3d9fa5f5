"""Removals: a vendor took addresses off its own suppression list, and sends to them again.

A removal ends the entries that reports of the same provider made: the bounce, or the opt-out. An
entry of another author stays, such as a complaint, an operator's entry or an opt-out by our own
page. A callback can come late or again, so an entry that is younger than the removal stays too.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

import structlog
from django.db import transaction

from notifications.core import conf
from notifications.core.rules import addresses
from notifications.core.rules.redaction import address_hash
from notifications.core.rules.suppression import Cause, address_fault
from notifications.core.store.postgres import opted_out_contacts, suppressions
from providers.contract import Removal

_log = structlog.get_logger(__name__)

_NOTE: Final = "the provider removed the address from its suppression list"


def record(provider: str, removals: Sequence[Removal]) -> int:
    """Undo the provider's entries of removed addresses; return the count. Safe to run twice."""
    return sum(_record(provider, each) for each in removals)


def _record(provider: str, removal: Removal) -> int:
    if address_fault(removal.channel, removal.address):
        return 0
    causes = [Cause.BOUNCE] * removal.ends_bounce
    causes += [opted_out_contacts.CAUSES[removal.channel]] * removal.ends_opt_out
    with transaction.atomic():
        suppressions.lock([(removal.channel, removal.address)])
        rows = suppressions.of_address(removal.channel, removal.address)
        rows = rows.filter(provider=provider, reason__in=causes)
        if removal.occurred_at is not None:
            rows = rows.filter(created_at__lte=removal.occurred_at)
        undone = suppressions.undo(rows, by=provider, note=_NOTE)
    form = addresses.usable_form(removal.channel, removal.address)
    hashed = address_hash(form, key=conf.current().hash_key)
    _log.info("removal_received", provider=provider, address_hash=hashed, changed=undone)
    return undone
