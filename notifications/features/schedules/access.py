"""Access rules of schedules."""

from __future__ import annotations

from typing import Final

from notifications.core.rules.access import BOTH, AccessRule
from notifications.core.rules.scopes import Scope

_SCHEDULE: Final = "/v1/schedules/{schedule_id}"
RULES: Final = (
    AccessRule("GET /v1/schedules", Scope.NOTIFICATIONS_READ, BOTH, "view_schedule"),
    AccessRule("POST /v1/schedules", Scope.NOTIFICATIONS_WRITE),
    AccessRule(f"GET {_SCHEDULE}", Scope.NOTIFICATIONS_READ, BOTH, "view_schedule"),
    AccessRule(f"PATCH {_SCHEDULE}", Scope.NOTIFICATIONS_WRITE, BOTH, "change_schedule"),
    AccessRule(f"DELETE {_SCHEDULE}", Scope.NOTIFICATIONS_WRITE),
)
