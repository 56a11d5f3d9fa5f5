"""Access rules of series, enrolments and custom events."""

from __future__ import annotations

from typing import Final

from notifications.core.rules.access import BOTH, AccessRule
from notifications.core.rules.scopes import Scope

_SERIES: Final = "/v1/series/{series_name}"
_ENROLMENT: Final = f"{_SERIES}/enrolments/{{enrolment_id}}"
RULES: Final = (
    AccessRule("GET /v1/series", Scope.CAMPAIGNS_READ, BOTH, "view_series"),
    AccessRule("POST /v1/series", Scope.CAMPAIGNS_WRITE),
    AccessRule(f"GET {_SERIES}", Scope.CAMPAIGNS_READ, BOTH, "view_series"),
    AccessRule(f"PUT {_SERIES}", Scope.CAMPAIGNS_WRITE, BOTH, "change_series"),
    AccessRule(f"POST {_SERIES}/publish", Scope.CAMPAIGNS_WRITE, BOTH, "change_series"),
    AccessRule(f"POST {_SERIES}/pause", Scope.CAMPAIGNS_WRITE, BOTH, "change_series"),
    AccessRule(f"POST {_SERIES}/resume", Scope.CAMPAIGNS_WRITE, BOTH, "change_series"),
    AccessRule(f"POST {_SERIES}/archive", Scope.CAMPAIGNS_WRITE, BOTH, "change_series"),
    AccessRule(f"GET {_SERIES}/enrolments", Scope.CAMPAIGNS_READ, BOTH, "view_seriesenrolment"),
    AccessRule(f"POST {_SERIES}/enrolments", Scope.CAMPAIGNS_WRITE),
    AccessRule(f"GET {_ENROLMENT}", Scope.CAMPAIGNS_READ, BOTH, "view_seriesenrolment"),
    AccessRule(f"POST {_ENROLMENT}/exit", Scope.CAMPAIGNS_WRITE, BOTH, "change_seriesenrolment"),
    AccessRule("POST /v1/events", Scope.EVENTS_WRITE),
)
