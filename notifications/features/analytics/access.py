"""Access rules of the figures of producers."""

from __future__ import annotations

from typing import Final

from notifications.core.rules.access import BOTH, AccessRule
from notifications.core.rules.scopes import Scope

RULES: Final = (
    AccessRule("GET /v1/analytics", Scope.ANALYTICS_READ, BOTH, "view_notification"),
    AccessRule("GET /v1/analytics producer", Scope.OPERATIONS_READ, BOTH, "view_notification"),
)
