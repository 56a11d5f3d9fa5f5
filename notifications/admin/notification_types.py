"""The router's data: which priority, category and retry policy a type has. Effective at once."""

from __future__ import annotations

from django.contrib import admin
from unfold.admin import ModelAdmin

from notifications.models import NotificationType


@admin.register(NotificationType)
class NotificationTypeAdmin(ModelAdmin):
    """Plain editing; what was already accepted keeps the values that it was accepted with."""

    list_display = ("name", "priority", "category", "retry_preset", "digest_template")
    list_filter = ("priority",)
    search_fields = ("name",)
