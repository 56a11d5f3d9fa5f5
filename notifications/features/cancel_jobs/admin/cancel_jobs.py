"""Cancel jobs: a form with a preview, and the progress of each job."""

from __future__ import annotations

import datetime as dt
from dataclasses import replace
from typing import Any, Final
from uuid import UUID

from django import forms
from django.contrib import admin, messages
from django.core.exceptions import PermissionDenied, ValidationError
from django.http import Http404, HttpRequest, HttpResponse, HttpResponseRedirect
from django.urls import URLPattern, path, reverse
from unfold.decorators import display
from unfold.widgets import (
    UnfoldAdminSelectWidget,
    UnfoldAdminTextareaWidget,
    UnfoldAdminTextInputWidget,
)

from notifications.core import clock
from notifications.core.admin import base, confirmation, names
from notifications.core.admin.actions import requires
from notifications.core.admin.audited import name_of
from notifications.core.models import CancelJob, Producer
from notifications.core.models.choices import PRIORITIES
from notifications.core.rules.lane import Priority
from notifications.core.store.postgres import audit
from notifications.features.cancel_jobs import jobs
from notifications.features.cancel_jobs.jobs import CancelFilter, CancelJobRefused

_LIST: Final = "admin:notifications_canceljob_changelist"
_MOST_IDS: Final = 10_000
_AT: Final = ("%Y-%m-%dT%H:%M", "%Y-%m-%d %H:%M")


class CancelForm(forms.Form):
    """The notifications to cancel; every given field must match."""

    producer = forms.ModelChoiceField(
        Producer.objects.all(),
        required=False,
        empty_label="every producer",
        widget=UnfoldAdminSelectWidget,
    )
    type = forms.CharField(max_length=64, required=False, widget=UnfoldAdminTextInputWidget)
    template_id = forms.CharField(
        label="Template", max_length=64, required=False, widget=UnfoldAdminTextInputWidget
    )
    priority = forms.TypedChoiceField(
        choices=[("", "every priority"), *PRIORITIES],
        coerce=lambda number: Priority(int(number)),
        empty_value=None,
        required=False,
        widget=UnfoldAdminSelectWidget,
    )
    metadata = forms.CharField(
        required=False,
        widget=UnfoldAdminTextInputWidget,
        help_text="A name and a value of the metadata, such as campaign: autumn.",
    )
    since = forms.DateTimeField(
        label="Accepted since (UTC)",
        required=False,
        input_formats=_AT,
        widget=UnfoldAdminTextInputWidget(attrs={"type": "datetime-local"}),
    )
    until = forms.DateTimeField(
        label="Accepted before (UTC)",
        required=False,
        input_formats=_AT,
        widget=UnfoldAdminTextInputWidget(attrs={"type": "datetime-local"}),
    )
    ids = forms.CharField(
        label="Notification ids",
        required=False,
        widget=UnfoldAdminTextareaWidget(attrs={"rows": 2}),
        help_text="Empty: all that match the other fields.",
    )

    def offer_names(self) -> None:
        """Give type and template the existing names; a request may have a type without a row."""
        types = names.types()._replace(is_whole=False)
        self.fields["type"].widget = names.widget(types, chosen="")
        given = str(self["template_id"].value() or "")
        listed = names.widget(names.templates(), chosen=given, empty="every template")
        self.fields["template_id"].widget = listed

    def clean_ids(self) -> tuple[UUID, ...] | None:
        """Return the ids, which blanks, commas or line ends separate.

        Raises:
            ValidationError: a word is no id, or there are too many ids.
        """
        words = self.cleaned_data["ids"].replace(",", " ").split()
        if len(words) > _MOST_IDS:
            raise ValidationError(f"At most {_MOST_IDS} ids.")
        try:
            return tuple(UUID(word) for word in words) or None
        except ValueError as error:
            raise ValidationError("An id is a UUID.") from error

    def clean_metadata(self) -> dict[str, str]:
        """Return the name and the value as an object.

        Raises:
            ValidationError: the colon is missing.
        """
        text = self.cleaned_data["metadata"].strip()
        if not text:
            return {}
        name, colon, value = text.partition(":")
        if not colon:
            raise ValidationError("Write a name, a colon and a value.")
        return {name.strip(): value.strip()}

    def clean(self) -> dict[str, Any]:
        """Check that a field besides the producer narrows the filter.

        Raises:
            ValidationError: no such field is given.
        """
        super().clean()
        if not self.errors and self.filter.is_empty and not self.cleaned_data["producer"]:
            raise ValidationError("Fill in at least one field.")
        return self.cleaned_data

    @property
    def filter(self) -> CancelFilter:
        """Return the filter of a valid form."""
        data = self.cleaned_data
        return CancelFilter(
            producer_id=data["producer"].pk if data["producer"] else None,
            ids=data["ids"],
            type=data["type"],
            template_id=data["template_id"],
            priority=data["priority"],
            metadata=data["metadata"],
            since=data["since"],
            until=data["until"],
        )


@admin.register(CancelJob)
class CancelJobAdmin(base.ReadOnlyAdmin):
    """List of jobs, with pages to start, to watch and to stop a job."""

    list_display = ("id", "created_at", "requested_by", "terms", "cancelled", "stopped", "state")
    sortable_by = ()

    has_add_permission = requires("notifications.cancel_notification")

    @display(
        description="State", label={"running": "info", "stopped": "warning", "finished": "success"}
    )
    def state(self, job: CancelJob) -> str:
        """Return `running`, `stopped` or `finished`."""
        if not job.finished_at:
            return "running"
        return "stopped" if job.is_stopped else "finished"

    @display(description="Filter")
    def terms(self, job: CancelJob) -> str:
        """Return the given fields of the filter."""
        return ", ".join(f"{name} {value}" for name, value in _conditions(job))

    def get_urls(self) -> list[URLPattern]:
        """Add the page that stops a job."""
        view = self.admin_site.admin_view
        ours = [path("<int:pk>/stop/", view(self.stop), name="notifications_canceljob_stop")]
        theirs: list[URLPattern] = super().get_urls()
        return ours + theirs

    def add_view(
        self,
        request: HttpRequest,
        form_url: str = "",  # noqa: ARG002 - Django's signature
        extra_context: dict[str, Any] | None = None,  # noqa: ARG002 - Django's signature
    ) -> HttpResponse:
        """Ask for the filter; then show the counts; then start the job.

        Raises:
            PermissionDenied: the operator may not cancel notifications.
        """
        if not self.has_add_permission(request):
            raise PermissionDenied
        is_post = request.method == "POST"
        shown_at = clock.now()  # before the count, which can take seconds
        start = {**request.GET.dict(), "ids": "\n".join(request.GET.getlist("ids"))}
        form = CancelForm(request.POST) if is_post else CancelForm(initial=start)
        form.offer_names()
        preview = None
        if is_post and form.is_valid() and "change" not in request.POST:
            if "confirmed" in request.POST and (moment := confirmation.moment(request)):
                by = name_of(request)
                job = jobs.start(_as_shown(form.filter, moment), requested_by=by, by=by)
                page = reverse("admin:notifications_canceljob_change", args=[job.pk])
                return HttpResponseRedirect(page)
            preview = jobs.preview(form.filter)
        context = {
            "form": form,
            "preview": preview,
            "shown_at": shown_at.isoformat(),
            "counts": [(each.name, preview.by_priority.get(each, 0)) for each in Priority]
            if preview
            else (),
            "back": reverse(_LIST),
        }
        title = "Cancel notifications"
        return base.page(self, request, "cancel_jobs/form.html", title=title, context=context)

    @base.own_page
    def change_view(self, request: HttpRequest, object_id: str) -> HttpResponse:
        """Show the progress of a job; the page reloads until the job is finished.

        Raises:
            Http404: the job does not exist.
        """
        job = self.get_object(request, object_id)
        if job is None:
            raise Http404
        context = {
            "job": job,
            "state": self.state(job),
            "percent": jobs.percent(job),
            "wanted": _conditions(job),
            "may_stop": self.has_add_permission(request) and job.bulk_job_id is None,
        }
        title = f"Cancel job {job.pk}"
        return base.page(self, request, "cancel_jobs/job.html", title=title, context=context)

    def stop(self, request: HttpRequest, pk: int) -> HttpResponse:
        """Ask for confirmation, then stop a job.

        Raises:
            PermissionDenied: the operator may not cancel notifications.
            Http404: the job does not exist.
        """
        if not self.has_add_permission(request):
            raise PermissionDenied
        rows = CancelJob.objects.filter(pk=pk)
        job = rows.first()
        if job is None:
            raise Http404
        back = reverse("admin:notifications_canceljob_change", args=[pk])
        if request.method == "POST":
            try:
                with audit.changes(name_of(request), "stop_cancel_job", rows):
                    jobs.stop(job)
            except CancelJobRefused as refused:
                self.message_user(request, f"Cancel job {pk}: {refused}.", messages.ERROR)
            else:
                self.message_user(request, f"Cancel job {pk}: stopped.", messages.SUCCESS)
            return HttpResponseRedirect(back)
        consequence = "Cancelled notifications stay cancelled. The others are sent."
        context = {"verb": "Stop", "consequence": consequence, "back": back}
        title = f"Stop cancel job {pk}?"
        return base.page(self, request, "admin/ask.html", title=title, context=context)


def _as_shown(wanted: CancelFilter, moment: dt.datetime) -> CancelFilter:
    """Return the filter without the notifications that were accepted after the page was shown."""
    return replace(wanted, until=min(wanted.until or moment, moment))


def _conditions(job: CancelJob) -> list[tuple[str, object]]:
    return [(name, value) for name, value in jobs.facts(job).items() if value]
