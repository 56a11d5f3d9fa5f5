"""Access rules of budgets and costs."""

from __future__ import annotations

from typing import Final

from notifications.core.rules.access import LIVE, AccessRule
from notifications.core.rules.scopes import Scope

RULES: Final = (
    AccessRule("GET /v1/costs", Scope.OPERATIONS_READ, LIVE, "view_budget"),
    AccessRule("GET /v1/budgets", Scope.OPERATIONS_READ, LIVE, "view_budget"),
)
