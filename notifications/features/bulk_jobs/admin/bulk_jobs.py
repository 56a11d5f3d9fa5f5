"""Bulk jobs: the list with progress, the page of a job, and pause, resume and cancel.

`composer` has the page that makes a job, `bulk_job_page` the parts of the page of a job.
"""

from __future__ import annotations

from typing import Any, Final

from django import forms
from django.contrib import admin, messages
from django.core.exceptions import PermissionDenied
from django.http import Http404, HttpRequest, HttpResponse, HttpResponseRedirect
from django.shortcuts import get_object_or_404
from django.urls import reverse
from django.utils.html import format_html
from unfold.decorators import display
from unfold.views import ChangeList
from unfold.widgets import UnfoldAdminTextInputWidget

from notifications.core import clock
from notifications.core.admin import base
from notifications.core.admin.actions import action, requires
from notifications.core.admin.audited import name_of
from notifications.core.models import BulkJob
from notifications.core.rules.bulk_job import BulkJobState
from notifications.core.store.postgres import audit
from notifications.features.bulk_jobs import changes, figures
from notifications.features.bulk_jobs.admin import composer, job_calendar, page
from notifications.features.bulk_jobs.create import BulkJobRefused
from notifications.features.bulk_jobs.figures import JobFigures
from notifications.features.bulk_jobs.rules import schedule_text

STATE_COLOURS: Final = {
    BulkJobState.SCHEDULED.value: "info",
    BulkJobState.RUNNING.value: "success",
    BulkJobState.PAUSED.value: "warning",
    BulkJobState.CANCELLED.value: "danger",
    BulkJobState.ABORTED.value: "danger",
}
_CONSEQUENCES: Final = {
    "pause": "Within 2 seconds no further message of the job is sent. Messages in the hands of a"
    " worker may still be sent. The other messages wait until you resume or cancel the job.",
    "resume": "The waiting messages are sent, at the rate of the job. A message whose time to live"
    " ended during the pause expires.",
    "cancel": "The cancellation is final. Sent messages stay sent; messages in the hands of a"
    " worker may still be sent. No other recipient gets the message.",
}


class ReasonForm(forms.Form):
    """The reason of an operator, for colleagues and the audit log."""

    reason = forms.CharField(
        max_length=300,
        widget=UnfoldAdminTextInputWidget(attrs={"autocomplete": "off"}),
    )


class BulkJobList(ChangeList):
    """The list of a page of jobs, with the figures of all jobs of the page by three queries."""

    def get_results(self, request: HttpRequest) -> None:
        """Load the page, and then the figures."""
        super().get_results(request)
        self.result_list = list(self.result_list)
        found = figures.of_each(self.result_list)
        for job, each in zip(self.result_list, found, strict=True):
            job.shown_figures = each


@admin.register(BulkJob)
class BulkJobAdmin(base.ReadOnlyAdmin):
    """Bulk jobs, newest first."""

    list_display = (
        *("name", "label", "bar", "size", "speed", "end"),
        *("producer", "mode", "created_at"),
    )
    list_filter = ("state", "mode", "producer", "type")
    list_select_related = ("producer",)
    search_fields = ("name__icontains", "template_id__exact", "=id")
    search_help_text = "A part of the name, the whole name of the template, or the id."
    paginator = base.BoundedPaginator
    ordering = ("-pk",)
    sortable_by = ()
    actions_list = ("calendar",)  # type: ignore[assignment]  # unfold types its default, an empty tuple
    actions_detail = ("pause", "resume", "cancel")  # type: ignore[assignment]  # unfold types its default, an empty tuple

    class Media:
        """The bar of the list."""

        css = {"all": ["notifications/bulk_jobs.css"]}  # noqa: RUF012 - Django's way

    def get_changelist(  # type: ignore[override]  # unfold annotates the class as an instance
        self,
        request: HttpRequest,  # noqa: ARG002 - Django's signature
        **_more: object,
    ) -> type[ChangeList]:
        """Return the list with figures."""
        return BulkJobList

    has_add_permission = requires("notifications.add_bulkjob")
    has_steer_permission = requires("notifications.change_bulkjob")

    @display(description="State", label=STATE_COLOURS)
    def label(self, job: BulkJob) -> str:
        """Return the state."""
        return job.state

    @display(description="Progress")
    def bar(self, job: BulkJob) -> str:
        """Return the part of the audience that is done, as a bar with the percentage."""
        return format_html(
            '<progress class="nc-progress" max="100" value="{0}" aria-label="Progress">{0} %'
            "</progress> {0}\N{NO-BREAK SPACE}%",
            f"{_figures_of(job).percent:g}",
        )

    @display(description="Accepted / estimate")
    def size(self, job: BulkJob) -> str:
        """Return the numbers of notifications and of recipients."""
        estimate = _figures_of(job).estimate
        whole = "?" if estimate is None else f"{estimate:,}"
        return f"{_figures_of(job).accepted:,} / {whole}"

    @display(description="Rate")
    def speed(self, job: BulkJob) -> str:
        """Return the present rate in words; empty for a job that accepts no message."""
        rate = _figures_of(job).rate
        return schedule_text.rate(rate) if rate else ""

    @display(description="Ends about")
    def end(self, job: BulkJob) -> str:
        """Return the expected end, or the end of a finished job."""
        if job.finished_at:
            return schedule_text.instant(job.finished_at, now=clock.now())
        ends_at = _figures_of(job).ends_at
        return schedule_text.instant(ends_at, now=clock.now()) if ends_at else ""

    def add_view(
        self,
        request: HttpRequest,
        form_url: str = "",  # noqa: ARG002 - Django's signature
        extra_context: dict[str, Any] | None = None,  # noqa: ARG002 - Django's signature
    ) -> HttpResponse:
        """Show the composer, check a draft, or send the draft.

        Raises:
            PermissionDenied: the operator may not send bulk jobs.
        """
        if not self.has_add_permission(request):
            raise PermissionDenied
        return composer.answer(self, request)

    @base.own_page
    def change_view(self, request: HttpRequest, object_id: str) -> HttpResponse:
        """Show the page of a job.

        Raises:
            Http404: the job does not exist.
        """
        found = self.get_object(request, object_id)
        job = get_object_or_404(BulkJob.objects.select_related("producer"), pk=found and found.pk)
        context = page.context(job, may_steer=self.has_steer_permission(request))
        context["may_compose"] = self.has_add_permission(request)
        context["colour"] = STATE_COLOURS.get(job.state, "")
        template = "bulk_jobs/bulk_job.html"
        return base.page(self, request, template, title=job.name, context=context)

    @action("Calendar", permissions=["view"], url_path="calendar", icon="calendar_today")
    def calendar(self, request: HttpRequest) -> HttpResponse:
        """Show the bulk jobs of a month or a week."""
        return job_calendar.show(self, request)

    @action("Pause", permissions=["steer"], url_path="pause", icon="pause")
    def pause(self, request: HttpRequest, object_id: str) -> HttpResponse:
        """Ask for the reason, then pause the job."""
        return self._steer(request, object_id, "pause")

    @action("Resume", permissions=["steer"], url_path="resume", icon="play_arrow")
    def resume(self, request: HttpRequest, object_id: str) -> HttpResponse:
        """Ask for the reason, then resume the job."""
        return self._steer(request, object_id, "resume")

    @action("Cancel", permissions=["steer"], url_path="cancel", icon="cancel")
    def cancel(self, request: HttpRequest, object_id: str) -> HttpResponse:
        """Ask for the reason, then cancel the job."""
        return self._steer(request, object_id, "cancel")

    def _steer(self, request: HttpRequest, object_id: str, verb: str) -> HttpResponse:
        job = self.get_object(request, object_id)
        if job is None:
            raise Http404
        back = reverse("admin:notifications_bulkjob_change", args=[job.pk])
        form = ReasonForm(request.POST if request.method == "POST" else None)
        if verb == "resume":
            del form.fields["reason"]
        if form.is_valid():
            self._change(request, job, verb, reason=form.cleaned_data.get("reason", ""))
            return HttpResponseRedirect(back)
        context = {
            "form": form,
            "verb": f"{verb.capitalize()} the bulk job",
            "is_final": verb == "cancel",
            "consequence": _CONSEQUENCES[verb],
            "back": back,
        }
        title = f"{verb.capitalize()} {job.name}?"
        return base.page(self, request, "admin/steer.html", title=title, context=context)

    def _change(self, request: HttpRequest, job: BulkJob, verb: str, *, reason: str) -> None:
        by = name_of(request)
        try:
            with audit.changes(by, f"{verb}_bulk_job", BulkJob.objects.filter(pk=job.pk)):
                match verb:
                    case "pause":
                        changes.pause(job.pk, by=by, reason=reason)
                    case "resume":
                        changes.resume(job.pk, by=by)
                    case _:
                        changes.cancel(job.pk, by=by, reason=reason)
        except BulkJobRefused as error:
            self.message_user(request, f"{error.problem.detail}.", messages.ERROR)
        else:
            job.refresh_from_db()
            self.message_user(request, f"{job.name} is {job.state}.", messages.SUCCESS)


def _figures_of(job: BulkJob) -> JobFigures:
    found: JobFigures = job.shown_figures  # type: ignore[attr-defined]  # `BulkJobList` sets the figures
    return found
