"""What the machine notes of itself: refused requests, and when each sweep last ran."""

from __future__ import annotations

from django.contrib import admin

from notifications.admin import base
from notifications.models import Rejected, SweepRun


@admin.register(Rejected)
class RejectedAdmin(base.ReadOnlyAdmin):
    """Requests that were refused for what they said."""

    list_display = ("at", "problem", "detail", "user_id", "type", "producer_id")
    list_filter = ("problem",)
    search_fields = ("=user_id", "=type")
    paginator = base.BoundedPaginator
    sortable_by = ()


@admin.register(SweepRun)
class SweepRunAdmin(base.ReadOnlyAdmin):
    """A sweep that has not run for a minute is a beat that is dead."""

    list_display = ("name", "started_at", "finished_at", "moved")
    ordering = ("name",)
    sortable_by = ()
