"""SES: the answers of `aws sesv2 list-suppressed-destinations`, all pages or a file for each.

    {"SuppressedDestinationSummaries": [
        {"EmailAddress": "a@example.com", "Reason": "BOUNCE", "LastUpdateTime": "..."}]}

https://docs.aws.amazon.com/ses/latest/APIReference-V2/API_ListSuppressedDestinations.html
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Final

from notifications.core.rules.suppression import Cause
from notifications.features.moving import files
from notifications.features.moving.export import ExportFile, Found, NotUnderstood
from notifications.features.moving.vendors import suppressed

_CAUSES: Final = {"BOUNCE": Cause.BOUNCE, "COMPLAINT": Cause.COMPLAINT}
_LIST: Final = "SuppressedDestinationSummaries"


def read(given: Sequence[ExportFile]) -> Iterator[Found]:
    """Yield the suppressed addresses."""
    for file in given:
        for each in files.read_entries(file, _LIST, wanted="EmailAddress"):
            if isinstance(each, NotUnderstood):
                yield each
                continue
            place, entry = each
            yield from suppressed.by_reason(
                place, entry["EmailAddress"], entry.get("Reason"), _CAUSES
            )
