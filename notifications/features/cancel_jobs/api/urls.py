"""The URL paths of cancel jobs."""

from __future__ import annotations

from notifications.core.api import operation
from notifications.features.cancel_jobs.api import cancel_jobs

urlpatterns = operation.routes(cancel_jobs)
