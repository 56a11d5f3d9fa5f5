"""Rejected requests, sweep runs and releases of this service."""

from __future__ import annotations

from django.contrib import admin

from notifications.core.admin import base
from notifications.core.models import Deploy, Rejected, SweepRun


@admin.register(Rejected)
class RejectedAdmin(base.OfProducerAdmin):
    """Read-only list of invalid requests."""

    list_display = ("at", "problem", "detail", "user_id", "type", "producer")
    list_filter = ("problem",)
    search_fields = ("=user_id", "=type")
    paginator = base.BoundedPaginator
    sortable_by = ()


@admin.register(SweepRun)
class SweepRunAdmin(base.ReadOnlyAdmin):
    """Read-only list of sweep runs. A sweep without a run for a minute shows a stopped beat."""

    list_display = ("name", "started_at", "finished_at", "moved")
    list_per_page = 100
    ordering = ("name",)
    sortable_by = ()


@admin.register(Deploy)
class DeployAdmin(base.ReadOnlyAdmin):
    """Read-only list of releases, newest first."""

    list_display = ("release", "at")
    sortable_by = ()
