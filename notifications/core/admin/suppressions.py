"""The suppression list: add an entry, import and export CSV, remove an entry.

Entries are never changed or deleted. A removed entry stays, with the operator and the reason.
"""

from __future__ import annotations

from typing import Any

from django import forms
from django.contrib import admin, messages
from django.core.exceptions import ValidationError
from django.core.files.uploadedfile import UploadedFile
from django.db import transaction
from django.db.models import Model, QuerySet
from django.http import HttpRequest, HttpResponse, HttpResponseRedirect, StreamingHttpResponse
from django.http.response import HttpResponseBase
from django.shortcuts import get_object_or_404
from django.urls import reverse
from unfold.decorators import display
from unfold.widgets import UnfoldAdminFileFieldWidget, UnfoldAdminTextInputWidget

from notifications.core.admin import base
from notifications.core.admin.actions import action, never, requires
from notifications.core.admin.addresses import MaskedAddressAdmin, may_see
from notifications.core.admin.audited import name_of
from notifications.core.models import Suppression
from notifications.core.models.suppression import LONGEST_NOTE
from notifications.core.operations import suppression_csv
from notifications.core.rules import masking
from notifications.core.rules.csv_reader import InvalidFile
from notifications.core.rules.suppression import Cause, address_fault
from notifications.core.store.postgres import audit, suppressions
from notifications.core.store.postgres.suppressions import SuppressionEntry
from providers.contract import Channel

MOST_BYTES = 8 * 1024 * 1024
"""Maximum size of an uploaded file: about 200,000 addresses."""


class SuppressionForm(forms.ModelForm[Suppression]):
    """Validates the address."""

    def clean(self) -> dict[str, Any]:
        """Check the address for the channel.

        Raises:
            ValidationError: the address is invalid on the channel.
        """
        given: dict[str, Any] = super().clean() or self.cleaned_data
        if "channel" in given and "address" in given:
            fault = address_fault(Channel(given["channel"]), given["address"])
            if fault:
                raise ValidationError({"address": f"It {fault}."})
        return given


class UndoForm(forms.Form):
    """The reason for a removal."""

    note = forms.CharField(label="Why", max_length=LONGEST_NOTE, widget=UnfoldAdminTextInputWidget)


class UploadForm(forms.Form):
    """A file with a bounded size."""

    file = forms.FileField(label="File", widget=UnfoldAdminFileFieldWidget)

    def clean_file(self) -> UploadedFile[Any]:
        """Return the file.

        Raises:
            ValidationError: the file is too large.
        """
        file: UploadedFile[Any] = self.cleaned_data["file"]
        if (file.size or 0) > MOST_BYTES:
            raise ValidationError(f"The file may have at most {MOST_BYTES} bytes; split the file.")
        return file


@admin.register(Suppression)
class SuppressionAdmin(MaskedAddressAdmin):
    """Entries are found by the whole address; addresses are masked."""

    form = SuppressionForm
    list_display = (
        *("id", "channel", "masked_address", "why", "state", "provider"),
        *("created_by", "created_at"),
    )
    list_filter = ("channel", "reason", ("undone_at", admin.EmptyFieldListFilter))
    search_fields = ("address__exact",)
    search_help_text = "The whole address."
    show_full_result_count = False
    paginator = base.BoundedPaginator
    ordering = ("-pk",)
    sortable_by = ()
    actions_list = ("upload", "download")  # type: ignore[assignment]  # unfold says: always empty
    actions_detail = ("undo", "show_address")

    @display(description="Reason")
    def why(self, row: Suppression) -> str:
        """Return the label of the reason."""
        return str(row.get_reason_display())

    @display(description="State", label={"in force": "danger", "undone": "success"})
    def state(self, row: Suppression) -> str:
        """Return `in force` or `undone`."""
        return "undone" if row.undone_at else "in force"

    def get_search_results(
        self, request: HttpRequest, queryset: QuerySet[Suppression], search_term: str
    ) -> tuple[QuerySet[Suppression], bool]:
        """Search by index, for the address in any spelling."""
        del request
        if not search_term.strip():
            return queryset, False
        return queryset & suppressions.of_term(search_term), False

    def get_fields(self, request: HttpRequest, obj: Suppression | None = None) -> tuple[str, ...]:
        """Return the editable fields of a new entry, or all fields of an existing entry."""
        address = self.address_field(request, obj)
        if obj is None:
            return ("channel", address, "note")
        known = ("reason", "provider", "created_at", "created_by")
        notes = ("note", "undo_note") if address == "address" else ("note_text", "undo_note_text")
        return ("channel", address, notes[0], *known, "undone_at", "undone_by", notes[1])

    def get_readonly_fields(self, request: HttpRequest, obj: Model | None = None) -> Any:  # noqa: ANN401 - Django's signature
        """Add the notes with masked addresses."""
        return (*super().get_readonly_fields(request, obj), "note_text", "undo_note_text")

    @display(description="Note")
    def note_text(self, row: Suppression) -> str:
        """Return the note with masked addresses."""
        return masking.mask_text(row.note)

    @display(description="Undo note")
    def undo_note_text(self, row: Suppression) -> str:
        """Return the reason for the removal with masked addresses."""
        return masking.mask_text(row.undo_note)

    has_change_permission = never  # an entry is undone, not changed
    has_delete_permission = never  # an entry is undone, so that a record stays
    has_undo_permission = requires("notifications.change_suppression")

    def has_download_permission(self, request: HttpRequest) -> bool:
        """Return True if the operator may export lists and see addresses."""
        return bool(request.user.has_perm("notifications.export_list")) and may_see(request)

    def save_model(  # type: ignore[override]  # unfold forgets which model this is the admin of
        self, request: HttpRequest, obj: Suppression, form: forms.Form, change: object
    ) -> None:
        """Add the entry with the store; an existing entry stays unchanged."""
        del form, change
        channel = Channel(obj.channel)
        entry = SuppressionEntry(
            channel=channel, address=obj.address, cause=Cause.MANUAL, note=obj.note
        )
        obj.pk = suppressions.enter(entry, by=request.user.get_username()).pk

    @action("Undo", permissions=["undo"], url_path="undo", icon="undo")
    def undo(self, request: HttpRequest, object_id: int) -> HttpResponse:
        """Ask for the reason, then remove the entry."""
        row = get_object_or_404(Suppression, pk=object_id)
        form = UndoForm(request.POST if request.method == "POST" else None)
        if form.is_valid():
            rows = Suppression.objects.filter(pk=row.pk)
            by = name_of(request)
            with audit.changes(by, "undo_suppression", rows):
                done = suppressions.undo(rows, by=by, note=form.cleaned_data["note"])
            said = f"{row} is undone." if done else f"{row} was undone before."
            self.message_user(request, said, messages.SUCCESS)
            page = reverse("admin:notifications_suppression_change", args=[row.pk])
            return HttpResponseRedirect(page)
        context = {
            "form": form,
            "verb": "Undo",
            "consequence": "Messages are sent to this address again, unless another entry for the"
            " address is active. Suppressed deliveries are not sent later.",
        }
        return self._form(request, title=f"Undo {row}", context=context)

    @action("Upload CSV", permissions=["add"], url_path="upload", icon="upload")
    def upload(self, request: HttpRequest) -> HttpResponse:
        """Import a file and show the counts."""
        form = UploadForm(*((request.POST, request.FILES) if request.method == "POST" else ()))
        done = self._read(request, form) if form.is_valid() else None
        context = {
            "form": form,
            "done": done,
            "verb": "Upload",
            "consequence": "A CSV file with the columns channel, address, and optionally"
            " reason and note. Every address is suppressed at once.",
        }
        return self._form(request, title="Upload suppressed addresses", context=context)

    @action("Download CSV", permissions=["download"], url_path="download", icon="download")
    def download(self, request: HttpRequest) -> HttpResponseBase:
        """Return the active entries as a file in the format of `upload`."""
        audit.record(name_of(request), "download_suppressions", Suppression(), after={"seen": True})
        lines = suppression_csv.export_lines(Suppression.objects.filter(undone_at=None))
        answer = StreamingHttpResponse(lines, content_type="text/csv; charset=utf-8")
        answer["Content-Disposition"] = 'attachment; filename="suppressions.csv"'
        return answer

    def _read(self, request: HttpRequest, form: UploadForm) -> suppression_csv.ImportResult | None:
        try:
            with transaction.atomic():
                done = suppression_csv.import_file(form.cleaned_data["file"], by=name_of(request))
                counted = {"added": done.added, "known": done.known, "refused": done.refused}
                audit.record(name_of(request), "import_suppressions", Suppression(), after=counted)
        except InvalidFile as error:
            form.add_error("file", str(error))
            return None
        return done

    def _form(self, request: HttpRequest, *, title: str, context: dict[str, Any]) -> HttpResponse:
        back = reverse("admin:notifications_suppression_changelist")
        template = "admin/suppression_form.html"
        return base.page(self, request, template, title=title, context=context | {"back": back})
