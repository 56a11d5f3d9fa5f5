"""Postmark: the suppressions of a message stream, as JSON of the API or as CSV of the web page.

    {"Suppressions": [{"EmailAddress": "a@example.com", "SuppressionReason": "HardBounce",
                       "Origin": "Recipient", "CreatedAt": "..."}]}

https://postmarkapp.com/developer/api/suppressions-api
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Final

from notifications.core.rules.suppression import Cause
from notifications.features.moving import files
from notifications.features.moving.export import ExportFile, Found, NotUnderstood
from notifications.features.moving.files import CsvLine
from notifications.features.moving.vendors import suppressed

_CAUSES: Final = {
    "HardBounce": Cause.BOUNCE,
    "SpamComplaint": Cause.COMPLAINT,
    "ManualSuppression": Cause.MANUAL,
}
_UNSUBSCRIBED: Final = {**_CAUSES, "ManualSuppression": Cause.UNSUBSCRIBE_ALL}
"""A manual suppression by the recipient is an unsubscription."""
_ADDRESS, _REASON = "EmailAddress", "SuppressionReason"


def read(given: Sequence[ExportFile]) -> Iterator[Found]:
    """Yield the suppressed addresses."""
    for file in given:
        lines = (
            files.read_csv(file, required=(_ADDRESS, _REASON), known=("Origin",))
            if file.is_csv
            else files.read_entries(file, "Suppressions", wanted=_ADDRESS)
        )
        for each in lines:
            if isinstance(each, NotUnderstood):
                yield each
                continue
            place, entry = (each.place, each.cells) if isinstance(each, CsvLine) else each
            causes = _UNSUBSCRIBED if entry.get("Origin") == "Recipient" else _CAUSES
            yield from suppressed.by_reason(place, entry.get(_ADDRESS), entry.get(_REASON), causes)
