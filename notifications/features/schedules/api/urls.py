"""The URL paths of schedules."""

from __future__ import annotations

from notifications.core.api import operation
from notifications.features.schedules.api import schedules

urlpatterns = operation.routes(schedules)
