"""Short links in text messages, and how often somebody followed them."""

from __future__ import annotations

from django.contrib import admin

from notifications.admin import base
from notifications.models import ShortLink


@admin.register(ShortLink)
class ShortLinkAdmin(base.ReadOnlyAdmin):
    """Neither token nor target is listed: whoever has them is where the message's reader is.

    Clicks are an estimate from above (see `rules.texts.short_links.is_a_person`).
    """

    list_display = ("delivery_id", "clicks", "first_clicked_at", "expires_at")
    list_display_links = None
    fields = list_display
    search_fields = ("=delivery_id",)
    paginator = base.BoundedPaginator
    ordering = ("-expires_at",)
    sortable_by = ()
