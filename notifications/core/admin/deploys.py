"""Releases of this service: a read-only list."""

from __future__ import annotations

from django.contrib import admin

from notifications.core.admin import base
from notifications.core.models import Deploy


@admin.register(Deploy)
class DeployAdmin(base.ReadOnlyAdmin):
    """Read-only list of releases, newest first."""

    list_display = ("release", "at")
    sortable_by = ()
