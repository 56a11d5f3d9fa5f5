"""The URL paths of budgets and costs."""

from __future__ import annotations

from notifications.core.api import operation
from notifications.features.money.api import budgets, costs

urlpatterns = operation.routes(costs, budgets)
