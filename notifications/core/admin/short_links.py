"""Short links in SMS, with the number of clicks."""

from __future__ import annotations

from django.contrib import admin
from django.http import HttpRequest

from notifications.core.admin import base
from notifications.core.models import ShortLink


@admin.register(ShortLink)
class ShortLinkAdmin(base.ReadOnlyAdmin):
    """Read-only list without token and target, because both give access to the linked page.

    The token is the primary key: checkboxes, an export and a filter would show the token.
    The number of clicks is an upper estimate (see `rules.texts.short_links.is_a_person`).
    """

    list_display = ("delivery_id", "clicks", "first_clicked_at", "expires_at")
    list_display_links = None
    actions = None
    fields = list_display
    search_fields = ("=delivery_id",)
    paginator = base.BoundedPaginator
    ordering = ("-expires_at",)
    sortable_by = ()

    def lookup_allowed(self, lookup: str, value: str, request: HttpRequest) -> bool:  # noqa: ARG002 - Django's signature
        """Return False: the list has a search and no filter."""
        return False
