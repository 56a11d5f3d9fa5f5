"""The URL path of the figures of a producer."""

from __future__ import annotations

from notifications.core.api import operation
from notifications.features.analytics.api import analytics

urlpatterns = operation.routes(analytics)
