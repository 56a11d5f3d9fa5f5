"""The URL paths of series, enrolments and custom events."""

from __future__ import annotations

from notifications.core.api import operation
from notifications.features.series.api import enrolments, events, series

urlpatterns = operation.routes(enrolments, events, series)
