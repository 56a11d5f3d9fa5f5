"""Alerts: what an operator must look at, and that somebody has."""

from __future__ import annotations

from django.contrib import admin, messages
from django.db.models import QuerySet
from django.http import HttpRequest
from unfold.decorators import display

from notifications import clock
from notifications.admin import base
from notifications.admin.actions import action
from notifications.admin.audited import name_of
from notifications.models import Alert
from notifications.rules.alerts import sentence
from notifications.store.postgres import audit


class OpenFilter(admin.EmptyFieldListFilter):
    """Open or resolved."""

    def __init__(self, *arguments: object, **options: object) -> None:
        super().__init__(*arguments, **options)  # type: ignore[arg-type]  # passed through
        self.title = "state"

    def choices(self, changelist: object) -> object:  # type: ignore[override]  # Django yields dicts
        """Words of this page in place of `Empty` and `Not empty`."""
        words = {"Empty": "Open", "Not empty": "Resolved"}
        for choice in super().choices(changelist):  # type: ignore[arg-type]  # Django's own type
            shown = str(choice["display"])
            yield {**choice, "display": words.get(shown, shown)}


@admin.register(Alert)
class AlertAdmin(base.ReadOnlyAdmin):
    """Read-only but for resolving."""

    list_display = ("kind", "subject", "detail", "meaning", "raised_at", "seen_at", "state")
    list_filter = (("resolved_at", OpenFilter), "kind")
    sortable_by = ()
    actions = ("resolve",)

    @display(description="Meaning")
    def meaning(self, row: Alert) -> str:
        """What alerts of its kind mean, and where to look."""
        return sentence(row.kind)

    @display(description="State", label={"open": "danger", "resolved": "success"})
    def state(self, row: Alert) -> str:
        """Open or resolved."""
        return "resolved" if row.resolved_at else "open"

    def has_resolve_permission(self, request: HttpRequest) -> bool:
        """Who may change alerts."""
        return bool(request.user.has_perm("notifications.change_alert"))

    @action("Resolve", permissions=["resolve"])
    def resolve(self, request: HttpRequest, queryset: QuerySet[Alert]) -> None:
        """It comes back by itself if its cause is still there."""
        with audit.changes(name_of(request), "resolve_alert", queryset):
            count = queryset.filter(resolved_at=None).update(resolved_at=clock.now())
        self.message_user(request, f"{count} alerts resolved.", messages.SUCCESS)
