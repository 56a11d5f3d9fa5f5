"""The URL paths of bulk jobs."""

from __future__ import annotations

from notifications.core.api import operation
from notifications.features.bulk_jobs.api import bulk_jobs, dry_run

urlpatterns = operation.routes(bulk_jobs, dry_run)
