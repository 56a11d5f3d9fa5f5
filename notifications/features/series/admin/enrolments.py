"""Enrolments: the search by recipient, the page with the history, and the stop of an enrolment.

The pages show no context of an enrolment: a producer can put addresses there.
"""

from __future__ import annotations

from typing import Any, Final

from django.contrib import admin, messages
from django.db.models import QuerySet
from django.http import HttpRequest, HttpResponse, HttpResponseRedirect
from django.shortcuts import get_object_or_404
from django.urls import reverse
from unfold.decorators import display

from notifications.core.admin import base, recipient_names
from notifications.core.admin.actions import action, requires
from notifications.core.admin.audited import name_of
from notifications.core.models import Recipient
from notifications.core.store.postgres import audit
from notifications.features.series import enrolments
from notifications.features.series.admin import page
from notifications.features.series.models import SeriesEnrolment
from notifications.features.series.rules import wording
from notifications.features.series.rules.states import EnrolmentState, SeriesState

STATE_COLOURS: Final = {
    EnrolmentState.RUNNING.value: "info",
    EnrolmentState.FINISHED.value: "success",
    EnrolmentState.EXITED.value: "warning",
}
_CONSEQUENCE: Final = (
    "The enrolment ends, and no further message of the series is sent to the recipient. Messages"
    " that were accepted before are still sent. The end is final; the rule of the series decides"
    " whether the recipient can be enrolled again."
)


@admin.register(SeriesEnrolment)
class SeriesEnrolmentAdmin(base.ReadOnlyAdmin):
    """Enrolments of all series, newest first; the search finds the enrolments of a recipient."""

    list_display = (
        *("person", "series", "version_number", "label", "step", "due_at"),
        *("problem", "enrolled_at", "ended_at"),
    )
    list_filter = ("state", "exit_reason")
    list_select_related = ("series", "version")
    search_fields = ("user_id__exact",)
    search_help_text = "The whole user id."
    paginator = base.BoundedPaginator
    ordering = ("-pk",)
    sortable_by = ()
    actions_detail = ("stop",)  # type: ignore[assignment]  # unfold types its default, an empty tuple

    def get_queryset(self, request: HttpRequest) -> QuerySet[SeriesEnrolment]:
        """Add the addresses of the recipients."""
        return recipient_names.with_address(super().get_queryset(request))

    @display(description="User id")
    def person(self, row: SeriesEnrolment) -> str:
        """Return the user id, and the masked address of a recipient registered by an address."""
        return recipient_names.name_of_row(row, row.user_id)

    def get_search_results(
        self, request: HttpRequest, queryset: QuerySet[Any], search_term: str
    ) -> tuple[QuerySet[Any], bool]:
        """Return the enrolments of a recipient, by the index on the recipient."""
        if not search_term:
            return super().get_search_results(request, queryset, search_term)
        people = Recipient.objects.filter(user_id=search_term.strip())
        return queryset.filter(recipient__in=list(people.values_list("pk", flat=True))), False

    has_stop_permission = requires("notifications.change_seriesenrolment")

    @display(description="Version")
    def version_number(self, row: SeriesEnrolment) -> int:
        """Return the number of the version."""
        return row.version.number

    @display(description="State", label=STATE_COLOURS)
    def label(self, row: SeriesEnrolment) -> str:
        """Return the state."""
        return row.state

    @display(description="Step")
    def step(self, row: SeriesEnrolment) -> str:
        """Return the present step, or the cause of the exit."""
        if row.exit_reason:
            return wording.reason(row.exit_reason)
        return wording.number(row.position)

    @base.own_page
    def change_view(self, request: HttpRequest, object_id: str) -> HttpResponse:
        """Show the page of an enrolment.

        Raises:
            Http404: the enrolment does not exist.
        """
        found = self.get_object(request, object_id)
        rows = SeriesEnrolment.objects.select_related("series", "version")
        row = get_object_or_404(rows, pk=found and found.pk)
        may_see = request.user.has_perm
        context = {
            "row": row,
            "person": recipient_names.name(row.recipient_id, row.user_id),
            "colour": STATE_COLOURS[row.state],
            "step": page.step_of(row.version, row.position),
            "exit": wording.reason(row.exit_reason) if row.exit_reason else "",
            "is_held": row.due_at is not None and row.series.state == SeriesState.PAUSED,
            "lines": [
                (
                    line,
                    page.step_of(row.version, line.position),
                    wording.outcome(line.outcome),
                )
                for line in row.history.order_by("number")
            ],
            "others": _others(row),
            "may_see_recipient": may_see("notifications.view_recipient"),
            "may_see_series": may_see("notifications.view_series"),
            "may_see_message": may_see("notifications.view_notification"),
            "may_stop": row.ended_at is None and self.has_stop_permission(request),
            "history": list(audit.of_object(row)[: page.HISTORY]),
        }
        title = f"{context['person']} in {row.series.name}"
        return base.page(self, request, "series/enrolment.html", title=title, context=context)

    @action("Stop", permissions=["stop"], url_path="stop", icon="stop")
    def stop(self, request: HttpRequest, object_id: str) -> HttpResponse:
        """Ask, then end the enrolment."""
        row = get_object_or_404(SeriesEnrolment.objects.select_related("series"), pk=object_id)
        back = reverse("admin:notifications_seriesenrolment_change", args=[row.pk])
        if request.method == "POST":
            self._leave(request, row)
            return HttpResponseRedirect(back)
        context = {
            "verb": "Stop the enrolment",
            "is_final": True,
            "consequence": _CONSEQUENCE,
            "back": back,
        }
        title = f"Stop {recipient_names.name(row.recipient_id, row.user_id)} in {row.series.name}?"
        return base.page(self, request, "admin/steer.html", title=title, context=context)

    def _leave(self, request: HttpRequest, row: SeriesEnrolment) -> None:
        by = name_of(request)
        rows = SeriesEnrolment.objects.filter(pk=row.pk)
        with audit.changes(by, "exit_enrolment", rows):
            has_ended = enrolments.leave(row.pk, by=by)
        if has_ended:
            self.message_user(request, "The enrolment has ended.", messages.SUCCESS)
        else:
            self.message_user(request, "The enrolment had ended before.", messages.ERROR)


def _others(row: SeriesEnrolment) -> list[SeriesEnrolment]:
    """Return the latest other enrolments of the recipient, in any series."""
    rows = SeriesEnrolment.objects.filter(recipient=row.recipient_id).exclude(pk=row.pk)
    return list(rows.select_related("series", "version").order_by("-pk")[: page.FAILURES])
