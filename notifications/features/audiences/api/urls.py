"""The URL paths of topics, saved audiences, uploads and snapshots."""

from __future__ import annotations

from notifications.core.api import operation
from notifications.features.audiences.api import audiences, lists, topics

urlpatterns = operation.routes(audiences, lists, topics)
