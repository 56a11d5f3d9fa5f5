"""Addresses that a provider called dead.

Invalid at once and for every later send, with the reason.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from uuid import UUID

from notifications import clock
from notifications.models import Contact, Delivery


def invalidate(reasons: Mapping[int, str]) -> None:
    """Mark contacts invalid, by contact id; one that is invalid already keeps its first reason."""
    for contact_id in sorted(reasons):
        Contact.objects.filter(id=contact_id, invalidated_at=None).update(
            invalidated_at=clock.now(), invalid_reason=reasons[contact_id][:200], is_primary=False
        )


def invalidate_of_deliveries(delivery_ids: Sequence[UUID], *, reason: str) -> None:
    """The same for the contacts that these deliveries went to."""
    if delivery_ids:
        found = Delivery.objects.filter(id__in=delivery_ids).values_list("contact_id", flat=True)
        invalidate({contact_id: reason for contact_id in found if contact_id is not None})
