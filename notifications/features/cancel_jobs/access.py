"""Access rules of cancel jobs."""

from __future__ import annotations

from typing import Final

from notifications.core.rules.access import BOTH, AccessRule
from notifications.core.rules.scopes import Scope

_CANCEL_JOB: Final = "/v1/cancel-jobs/{job_id}"
RULES: Final = (
    AccessRule("POST /v1/notifications/cancel", Scope.NOTIFICATIONS_WRITE),
    AccessRule("GET /v1/cancel-jobs", Scope.NOTIFICATIONS_READ, BOTH, "view_notification"),
    AccessRule(f"GET {_CANCEL_JOB}", Scope.NOTIFICATIONS_READ, BOTH, "view_notification"),
    AccessRule(f"POST {_CANCEL_JOB}/stop", Scope.NOTIFICATIONS_WRITE),
)
