"""Entries of the suppression list from a vendor's list of addresses."""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from notifications.core.rules.suppression import Cause
from notifications.core.store.postgres.suppressions import SuppressionEntry
from notifications.features.moving.export import ExportPlace, Found, NotUnderstood, SuppressionItem
from providers.contract import Channel


def entry(place: ExportPlace, address: object, cause: Cause, *, note: str = "") -> Found:
    """Return the entry of an e-mail address; a fault for another value."""
    if not isinstance(address, str) or not address.strip():
        return NotUnderstood(place, "has no address")
    listed = SuppressionEntry(
        channel=Channel.EMAIL, address=address.strip(), cause=cause, note=note.replace("\0", "")
    )
    return SuppressionItem(place=place, entry=listed)


def by_reason(
    place: ExportPlace, address: object, reason: object, causes: Mapping[str, Cause]
) -> Iterator[Found]:
    """Yield the entry with the cause of a vendor's reason; an unknown reason is a fault."""
    cause = causes.get(str(reason))
    if cause is None:
        known = ", ".join(sorted(causes))
        yield NotUnderstood(place, f"the reason {str(reason)[:40]!r} is none of {known}")
    else:
        yield entry(place, address, cause, note="from the list of the vendor")
