"""Access rules of the preference page."""

from __future__ import annotations

from typing import Final

from notifications.core.rules.access import AccessRule, Entry

RULES: Final = (
    AccessRule("GET /preferences/{token}", Entry.SIGNED),
    AccessRule("POST /preferences/{token}", Entry.SIGNED),
)
