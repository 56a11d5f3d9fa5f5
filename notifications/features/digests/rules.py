"""Digests: one message that replaces several notifications held by a frequency cap.

    variables   count   the number of replaced notifications
                items   the variables of the first few replaced notifications, oldest first
                type    the notification type

A held digest is merged like any other notification: counts are added, items are concatenated.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Final

import orjson

from notifications.core.rules.request import MAX_VARIABLES_BYTES

ITEMS: Final = 5
"""Notifications whose variables a digest carries."""
_ROOM: Final = MAX_VARIABLES_BYTES // 2
"""Bytes of JSON for the items; the rest is for the JSON around them."""


@dataclass(frozen=True, slots=True)
class Told:
    """A notification replaced by a digest."""

    variables: Mapping[str, Any]
    is_digest: bool
    """It was rendered from the digest's own template."""

    @property
    def count(self) -> int:
        """Return the number of notifications represented."""
        return int(self.variables["count"]) if self._is_several else 1

    @property
    def items(self) -> Sequence[Mapping[str, Any]]:
        """Return the variables of the represented notifications."""
        return self.variables["items"] if self._is_several else [self.variables]

    @property
    def _is_several(self) -> bool:
        # Producers may use the template too, with whatever variables they like.
        count, items = self.variables.get("count"), self.variables.get("items")
        return self.is_digest and isinstance(count, int) and isinstance(items, list)


def variables(told: Sequence[Told], *, type_: str) -> dict[str, Any]:
    """Return the variables of the digest for notifications, oldest first."""
    items: list[Mapping[str, Any]] = []
    room = _ROOM
    for item in (item for each in told for item in each.items):
        room -= len(orjson.dumps(item))
        if room < 0 or len(items) == ITEMS:
            break
        items.append(item)
    return {"count": sum(each.count for each in told), "items": items, "type": type_}
