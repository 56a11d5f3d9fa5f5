"""Lag limits of P3 lanes, which replace the defaults of `rules.DEFAULTS`."""

from __future__ import annotations

from django.contrib import admin

from notifications.core.admin.audited import AuditedAdmin
from notifications.features.back_pressure.models import LagLimits


@admin.register(LagLimits)
class LagLimitsAdmin(AuditedAdmin):
    """Editable list, a row for a channel. Deleting a row restores the defaults."""

    list_display = (
        "channel",
        "refuse_waiting",
        "refuse_behind_seconds",
        "drop_waiting",
        "drop_behind_seconds",
        "drop_older_seconds",
    )
