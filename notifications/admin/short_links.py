"""Short links in SMS, with the number of clicks."""

from __future__ import annotations

from django.contrib import admin

from notifications.admin import base
from notifications.models import ShortLink


@admin.register(ShortLink)
class ShortLinkAdmin(base.ReadOnlyAdmin):
    """Read-only list without token and target, because both give access to the linked page.

    The number of clicks is an upper estimate (see `rules.texts.short_links.is_a_person`).
    """

    list_display = ("delivery_id", "clicks", "first_clicked_at", "expires_at")
    list_display_links = None
    fields = list_display
    search_fields = ("=delivery_id",)
    paginator = base.BoundedPaginator
    ordering = ("-expires_at",)
    sortable_by = ()
