"""Releases of this service: a read-only list."""

from __future__ import annotations

from django.contrib import admin

from notifications.admin import base
from notifications.models import Deploy


@admin.register(Deploy)
class DeployAdmin(base.ReadOnlyAdmin):
    """Read-only list of releases, newest first."""

    list_display = ("release", "at")
    sortable_by = ()
