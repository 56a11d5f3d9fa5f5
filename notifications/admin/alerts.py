"""Alerts: list and resolve."""

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
    """Filter for open or resolved alerts."""

    def __init__(self, *arguments: object, **options: object) -> None:
        super().__init__(*arguments, **options)  # type: ignore[arg-type]  # passed through
        self.title = "state"

    def choices(self, changelist: object) -> object:  # type: ignore[override]  # Django yields dicts
        """Return the choices with the labels `Open` and `Resolved`."""
        words = {"Empty": "Open", "Not empty": "Resolved"}
        for choice in super().choices(changelist):  # type: ignore[arg-type]  # Django's own type
            shown = str(choice["display"])
            yield {**choice, "display": words.get(shown, shown)}


@admin.register(Alert)
class AlertAdmin(base.ReadOnlyAdmin):
    """Read-only list of alerts with an action to resolve."""

    list_display = ("kind", "subject", "detail", "meaning", "raised_at", "seen_at", "state")
    list_filter = (("resolved_at", OpenFilter), "kind")
    sortable_by = ()
    actions = ("resolve",)

    @display(description="Meaning")
    def meaning(self, row: Alert) -> str:
        """Return the meaning of the kind of alert."""
        return sentence(row.kind)

    @display(description="State", label={"open": "danger", "resolved": "success"})
    def state(self, row: Alert) -> str:
        """Return `open` or `resolved`."""
        return "resolved" if row.resolved_at else "open"

    def has_resolve_permission(self, request: HttpRequest) -> bool:
        """Return True if the operator may change alerts."""
        return bool(request.user.has_perm("notifications.change_alert"))

    @action("Resolve", permissions=["resolve"])
    def resolve(self, request: HttpRequest, queryset: QuerySet[Alert]) -> None:
        """Resolve alerts. An alert is raised again if the cause lasts."""
        with audit.changes(name_of(request), "resolve_alert", queryset):
            count = queryset.filter(resolved_at=None).update(resolved_at=clock.now())
        self.message_user(request, f"{count} alerts resolved.", messages.SUCCESS)
