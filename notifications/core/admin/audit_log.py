"""The audit log."""

from __future__ import annotations

import json
from typing import Final

from django.contrib import admin
from django.db.models import Q, QuerySet
from django.http import HttpRequest
from django.urls import NoReverseMatch, reverse
from django.utils.html import format_html
from unfold.decorators import display

from notifications.core.admin import base
from notifications.core.models import AuditEntry

_FIELDS_SHOWN: Final = 3
"""In the list; the page of an entry shows all fields."""


@admin.register(AuditEntry)
class AuditEntryAdmin(base.ReadOnlyAdmin):
    """Read-only log with a search by operator, key, object and request."""

    list_display = ("at", "by", "operation", "object", "differs", "request_id")
    list_filter = ("object_type", "operation")
    date_hierarchy = None
    reads_replica = True
    search_fields = ("by",)
    search_help_text = "A user name, the prefix of a key, the name of an object, or a request id."
    paginator = base.BoundedPaginator
    ordering = ("-pk",)
    sortable_by = ()
    fields = ("at", "by", "operation", "object", "was", "became", "request_id")
    change_form_outer_after_template = None

    def get_search_results(
        self, request: HttpRequest, queryset: QuerySet[AuditEntry], search_term: str
    ) -> tuple[QuerySet[AuditEntry], bool]:
        """Match whole names, or the prefix of a key."""
        del request
        term = search_term.strip()
        if not term:
            return queryset, False
        exact = Q(by=term) | Q(object_name=term) | Q(request_id=term)
        return queryset.filter(exact | Q(by__endswith=f"({term})")), False

    @display(description="Object")
    def object(self, entry: AuditEntry) -> str:
        """Return the changed object, with a link if the admin has a page for the object."""
        name = f"{entry.object_type} {entry.object_name or entry.object_id}"
        for app in ("notifications", "auth", "django_celery_beat"):
            try:
                page = reverse(f"admin:{app}_{entry.object_type}_change", args=[entry.object_id])
            except NoReverseMatch:
                continue
            return base.link(page, name)
        return name

    @display(description="Fields")
    def differs(self, entry: AuditEntry) -> str:
        """Return the names of the changed fields."""
        shown = entry.fields[:_FIELDS_SHOWN]
        return ", ".join(shown) + (" …" if len(entry.fields) > len(shown) else "")

    @display(description="Before")
    def was(self, entry: AuditEntry) -> str:
        """Return the previous values."""
        return _pretty(entry.before)

    @display(description="After")
    def became(self, entry: AuditEntry) -> str:
        """Return the new values."""
        return _pretty(entry.after)


def _pretty(facts: dict[str, object]) -> str:
    text = json.dumps(facts, indent=2, ensure_ascii=False)
    return format_html('<pre style="white-space:pre-wrap">{}</pre>', text)
