"""Uploads and snapshots of recipients: the list, the page with faults by line, and an upload."""

from __future__ import annotations

from typing import Any, Final

from django import forms
from django.contrib import admin, messages
from django.core.exceptions import PermissionDenied
from django.db.models import QuerySet
from django.http import HttpRequest, HttpResponse, HttpResponseRedirect
from django.urls import reverse
from django.utils.html import format_html_join
from django.utils.safestring import mark_safe
from unfold.decorators import display
from unfold.widgets import (
    UnfoldAdminFileFieldWidget,
    UnfoldAdminSelectWidget,
    UnfoldAdminTextInputWidget,
)

from notifications.core.admin import base
from notifications.core.admin.actions import requires
from notifications.core.admin.audited import name_of
from notifications.core.models import RecipientList
from notifications.core.models.choices import MODES
from notifications.core.rules.lane import Mode
from notifications.core.rules.recipient_lists import ListKind
from notifications.features.audiences import uploads
from notifications.features.audiences.rules import wording
from notifications.features.audiences.rules.upload_lines import InvalidUpload, UploadFormat

_COLOURS: Final = {"loading": "info", "ready": "success", "failed": "danger"}


class RecipientUploadForm(forms.Form):
    """A file of user ids; the loader of the API reads the file."""

    name = forms.CharField(max_length=100, required=False, widget=UnfoldAdminTextInputWidget)
    mode = forms.TypedChoiceField(
        choices=MODES,
        coerce=lambda value: Mode(int(value)),
        initial=Mode.LIVE.value,
        widget=UnfoldAdminSelectWidget,
    )
    file = forms.FileField(
        label="CSV or NDJSON file",
        widget=UnfoldAdminFileFieldWidget(attrs={"accept": ".csv,.ndjson,.jsonl,.txt"}),
    )


@admin.register(RecipientList)
class RecipientListAdmin(base.ReadOnlyAdmin):
    """Recipient lists, newest first; no page reads the members."""

    list_display = ("__str__", "kind", "mode", "label", "members", "created_by", "expires_at")
    list_filter = ("kind", "mode", "state")
    search_fields = ("name__icontains", "=id")
    paginator = base.BoundedPaginator
    ordering = ("-pk",)
    sortable_by = ()
    fields = (
        *("name", "kind", "mode", "state", "state_reason", "columns", "source"),
        *("lines", "members", "duplicates", "unknown", "wrong_lines", "first_faults"),
        *("created_at", "created_by", "ready_at", "expires_at"),
    )

    def get_queryset(self, request: HttpRequest) -> QuerySet[RecipientList]:
        """Leave out deleted lists."""
        rows: QuerySet[RecipientList] = super().get_queryset(request).filter(deleted_at=None)
        return rows

    has_add_permission = requires("notifications.add_recipientlist")

    @display(description="State", label=_COLOURS)
    def label(self, row: RecipientList) -> str:
        """Return the state."""
        return row.state

    @display(description="Expression of the snapshot")
    def source(self, row: RecipientList) -> str:
        """Return the expression in words."""
        return wording.describe_stored(row.expression) if row.expression else "-"

    @display(description="Wrong lines")
    def wrong_lines(self, row: RecipientList) -> str:
        """Return the numbers of wrong lines by kind of fault."""
        counts = sorted(row.fault_counts.items())
        return ", ".join(f"{kind}: {count:,}" for kind, count in counts) or "-"

    @display(description="First faults")
    def first_faults(self, row: RecipientList) -> str:
        """Return the first faults, one per line."""
        lines = ((each["line"], each["detail"]) for each in row.faults)
        return format_html_join(mark_safe("<br>"), "Line {}: {}", lines) or "-"

    def add_view(
        self,
        request: HttpRequest,
        form_url: str = "",  # noqa: ARG002 - Django's signature
        extra_context: dict[str, Any] | None = None,  # noqa: ARG002 - Django's signature
    ) -> HttpResponse:
        """Upload a file, then show the counts and the faults.

        Raises:
            PermissionDenied: the operator may not upload recipients.
        """
        if not self.has_add_permission(request):
            raise PermissionDenied
        is_post = request.method == "POST"
        form = RecipientUploadForm(*((request.POST, request.FILES) if is_post else ()))
        if form.is_valid() and (row := _load(request, form)):
            said = f"{row}: {row.members:,} recipients of {row.lines:,} lines."
            self.message_user(request, said, messages.SUCCESS)
            page = reverse("admin:notifications_recipientlist_change", args=[row.pk])
            return HttpResponseRedirect(page)
        context = {
            "form": form,
            "verb": "Upload",
            "consequence": "CSV in UTF-8 whose first line names the columns, user_id among them, or"
            " NDJSON with user_id in each object. Other columns are variables of the recipient."
            " Wrong lines and unknown user ids are counted and left out.",
            "back": reverse("admin:notifications_recipientlist_changelist"),
        }
        template = "admin/suppression_form.html"
        return base.page(self, request, template, title="Upload recipients", context=context)


def _load(request: HttpRequest, form: RecipientUploadForm) -> RecipientList | None:
    """Load the file; None if the file cannot be used."""
    data, by = form.cleaned_data, name_of(request)
    is_json = data["file"].name.lower().endswith((".ndjson", ".jsonl", ".json"))
    row = uploads.begin(
        mode=data["mode"],
        kind=ListKind.UPLOAD,
        name=data["name"] or data["file"].name[:100],
        by=by,
    )
    try:
        return uploads.load(row, data["file"], UploadFormat.NDJSON if is_json else UploadFormat.CSV)
    except (InvalidUpload, uploads.UploadsBusy) as error:
        form.add_error("file", f"{error}.")
        return None
