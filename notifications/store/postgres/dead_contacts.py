"""Contacts that a provider called dead.

A dead contact is invalid at once, for queued and later sends, with provider, reason and time. A
live number or mailbox also enters the suppression list. Only an operator makes a contact valid
again. Webhook endpoints learn of the contact (`contact.invalidated`), in the same transaction.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final
from uuid import UUID

from notifications.models import Delivery
from notifications.rules.lane import Mode
from notifications.rules.suppression import LISTED, Cause
from notifications.rules.webhook_events import StatusEvent
from notifications.store.postgres import db

_LONGEST_REASON: Final = 200
"""Characters of the column."""


def invalidate(reasons: Mapping[int, str], *, provider: str, cause: Cause = Cause.BOUNCE) -> None:
    """Mark contacts invalid, by contact id; an invalid contact keeps the first reason."""
    if reasons:
        db.run(
            "invalidate_contacts",
            {
                "ids": list(reasons),
                "reasons": [reason[:_LONGEST_REASON] for reason in reasons.values()],
                "provider": provider,
                "cause": cause.value,
                "live": Mode.LIVE,
                "listed": sorted(LISTED),
                "event": StatusEvent.CONTACT_INVALIDATED.value,
            },
        )


def invalidate_of_deliveries(
    reasons: Mapping[UUID, str], *, provider: str, cause: Cause = Cause.BOUNCE
) -> None:
    """Mark the contacts of deliveries invalid; ignores deliveries of other providers."""
    if reasons:
        theirs = Delivery.objects.filter(id__in=reasons, provider=provider)
        pairs = theirs.values_list("id", "contact_id")
        dead = {contact: reasons[each] for each, contact in pairs if contact is not None}
        invalidate(dead, provider=provider, cause=cause)
