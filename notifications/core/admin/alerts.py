"""Alerts: open ones first, a page for each with links, acknowledge and resolve."""

from __future__ import annotations

import datetime as dt
from typing import Any, ClassVar, Final

from django import forms
from django.contrib import admin, messages
from django.db.models import QuerySet
from django.http import HttpRequest, HttpResponse, HttpResponseRedirect
from django.shortcuts import get_object_or_404
from django.urls import reverse
from django.utils.html import format_html_join
from unfold.decorators import display
from unfold.widgets import (
    UnfoldAdminIntegerFieldWidget,
    UnfoldAdminTextareaWidget,
    UnfoldAdminTextInputWidget,
)

from notifications.core import clock
from notifications.core.admin import base
from notifications.core.admin.actions import action, requires
from notifications.core.admin.audited import name_of
from notifications.core.models import Alert
from notifications.core.rules import alert_links
from notifications.core.rules.alerts import Severity, sentence, severity
from notifications.core.store.postgres import alerts, audit

_HOURS: Final = 4
"""Default time of an acknowledgement."""
_MOST_HOURS: Final = 24 * 7


def page_of(alert: Alert) -> str:
    """Return the URL of an alert's own page."""
    return reverse("admin:notifications_alert_change", args=[alert.pk])


class AlertStateFilter(base.ChoiceFilter):
    """Filter for open alerts (default), covered alerts or resolved alerts."""

    title = "state"
    parameter_name = "state"
    offered = (
        ("open", "Open"),
        ("covered", "Open, covered by another alert"),
        ("resolved", "Resolved"),
        ("all", "All"),
    )
    default = "open"

    def queryset(self, request: HttpRequest, queryset: QuerySet[Alert]) -> QuerySet[Alert]:  # noqa: ARG002 - Django's signature
        """Restrict the list to a state."""
        match self.value():
            case "all":
                return queryset
            case "resolved":
                return queryset.filter(resolved_at__isnull=False)
            case "covered":
                return queryset.filter(resolved_at=None, cause__isnull=False)
            case _:
                return queryset.filter(resolved_at=None, cause=None)


class AcknowledgeForm(forms.Form):
    """Time, owner and note of an acknowledgement."""

    hours = forms.IntegerField(
        min_value=1,
        max_value=_MOST_HOURS,
        initial=_HOURS,
        label="Hours without a reminder",
        widget=UnfoldAdminIntegerFieldWidget,
    )
    owner = forms.CharField(
        max_length=128,
        required=False,
        label="Owner, if not you",
        widget=UnfoldAdminTextInputWidget,
    )
    note = forms.CharField(
        max_length=500,
        required=False,
        label="Note for other operators",
        widget=UnfoldAdminTextareaWidget(attrs={"rows": 3}),
    )


@admin.register(Alert)
class AlertAdmin(base.ReadOnlyAdmin):
    """Read-only list of alerts, with actions to acknowledge and to resolve."""

    list_display = ("name", "urgency", "explanation", "owner", "state", "raised_at")
    list_filter = (AlertStateFilter, "kind")
    list_select_related = ("cause",)
    sortable_by = ()
    actions = ("acknowledge_all", "resolve")
    actions_detail = ("acknowledge", "resolve_one")  # type: ignore[assignment]  # unfold types its default, an empty tuple
    fields = (
        *("name", "urgency", "state", "detail", "meaning", "ill", "runbook"),
        *("cause_link", "effects", "raised_at", "seen_at", "resolved_at"),
        *("owner", "acknowledged_at", "acknowledged_by", "acknowledged_until", "note", "kind"),
    )
    readonly_fields: ClassVar = [
        *("name", "urgency", "state", "meaning", "ill", "runbook", "cause_link", "effects")
    ]

    @display(description="Alert")
    def name(self, row: Alert) -> str:
        """Return title and subject."""
        return str(row)

    @display(description="Detail")
    def explanation(self, row: Alert) -> str:
        """Return the detail; without a detail, the meaning of the kind."""
        return row.explanation

    @display(description="Meaning")
    def meaning(self, row: Alert) -> str:
        """Return the meaning of the kind of alert."""
        return sentence(row.kind)

    @display(description="Severity", label={"page": "danger", "ticket": "warning"})
    def urgency(self, row: Alert) -> str:
        """Return `page` or `ticket`."""
        return severity(row.kind).value

    @display(
        description="State",
        label={"open": "danger", "acknowledged": "info", "covered": "", "resolved": "success"},
    )
    def state(self, row: Alert) -> str:
        """Return `open`, `acknowledged`, `covered` or `resolved`."""
        if row.resolved_at:
            return "resolved"
        if row.cause_id:
            return "covered"
        until = row.acknowledged_until
        return "acknowledged" if until and until > clock.now() else "open"

    @display(description="See")
    def ill(self, row: Alert) -> str:
        """Return the link to the page that shows the cause."""
        path = alert_links.page_of(row.kind, row.subject)
        return base.link(path, "The page that shows the cause") if path else "-"

    @display(description="Runbook")
    def runbook(self, row: Alert) -> str:
        """Return the link to the entry of the runbook."""
        return base.link(alert_links.runbook_of(row.kind), "What to look at and what to do")

    @display(description="Covered by")
    def cause_link(self, row: Alert) -> str:
        """Return the link to the alert that covers the alert."""
        return base.link(page_of(row.cause), row.cause) if row.cause else "-"

    @display(description="Covers")
    def effects(self, row: Alert) -> str:
        """Return links to the open alerts that follow from the alert."""
        rows = row.covered.filter(resolved_at=None)
        return format_html_join("", "<div>{}</div>", ((base.link(page_of(r), r),) for r in rows))

    has_resolve_permission = requires("notifications.change_alert")

    @action("Acknowledge for 4 hours", permissions=["resolve"])
    def acknowledge_all(self, request: HttpRequest, queryset: QuerySet[Alert]) -> None:
        """Acknowledge alerts: no reminder leaves for four hours."""
        until = clock.now() + dt.timedelta(hours=_HOURS)
        with audit.changes(name_of(request), "acknowledge_alert", queryset):
            count = alerts.acknowledge(queryset, by=name_of(request), until=until)
        self.message_user(request, f"{count} alerts acknowledged.", messages.SUCCESS)

    @action("Resolve", permissions=["resolve"])
    def resolve(self, request: HttpRequest, queryset: QuerySet[Alert]) -> None:
        """Resolve alerts. An alert is raised again if the cause lasts."""
        with audit.changes(name_of(request), "resolve_alert", queryset):
            count = alerts.resolve_rows(queryset)
        self.message_user(request, f"{count} alerts resolved.", messages.SUCCESS)

    @action("Acknowledge", permissions=["resolve"], url_path="acknowledge", icon="done")
    def acknowledge(self, request: HttpRequest, object_id: int) -> HttpResponse:
        """Ask for time, owner and note; then acknowledge the alert."""
        alert = get_object_or_404(Alert, pk=object_id)
        form = AcknowledgeForm(request.POST if request.method == "POST" else None)
        if form.is_valid():
            given = form.cleaned_data
            rows = Alert.objects.filter(pk=alert.pk)
            until = clock.now() + dt.timedelta(hours=given["hours"])
            with audit.changes(name_of(request), "acknowledge_alert", rows):
                count = alerts.acknowledge(
                    rows,
                    by=name_of(request),
                    until=until,
                    owner=given["owner"],
                    note=given["note"],
                )
            said = f"Acknowledged until {until:%Y-%m-%d %H:%M} UTC."
            if not count:
                said = "The alert is resolved already."
            self.message_user(request, said, messages.SUCCESS)
            return HttpResponseRedirect(page_of(alert))
        context = {
            "form": form,
            "verb": "Acknowledge",
            "consequence": "No reminder leaves until then. The end of the cause resolves the alert"
            " as before, and a new occurrence raises a new alert.",
            "back": page_of(alert),
        }
        template, title = "admin/suppression_form.html", f"Acknowledge: {alert}"
        return base.page(self, request, template, title=title, context=context)

    @action("Resolve", permissions=["resolve"], url_path="resolve", icon="check_circle")
    def resolve_one(self, request: HttpRequest, object_id: int) -> HttpResponse:
        """Ask for confirmation, then resolve the alert."""
        alert = get_object_or_404(Alert, pk=object_id)
        if request.method == "POST":
            self.resolve(request, Alert.objects.filter(pk=alert.pk))
            return HttpResponseRedirect(page_of(alert))
        consequence = "The alert is raised again if its cause lasts."
        context = {"verb": "Resolve", "consequence": consequence, "back": page_of(alert)}
        title = f"Resolve: {alert}"
        return base.page(self, request, "admin/ask.html", title=title, context=context)


def overview() -> list[dict[str, Any]]:
    """Return the open alerts for the overview: `alert`, `url`, `severity`, pages first; at most 20.

    Covered alerts are left out.
    """
    rows = sorted(alerts.open_causes()[:100], key=lambda row: severity(row.kind) is Severity.TICKET)
    return [
        {"alert": row, "url": page_of(row), "severity": severity(row.kind).value}
        for row in rows[:20]
    ]
