"""Import recipients: a CSV file is checked, with the faults by line, and then imported.

The page keeps no file: the operator chooses the file again for the import, and a file other than
the checked one is refused. The rights are those of the columns: to change recipients, and contacts
and preferences if the file has such columns.
"""

from __future__ import annotations

import hashlib
from typing import Any, Final

from django import forms
from django.contrib import admin
from django.core.exceptions import PermissionDenied
from django.core.files.uploadedfile import UploadedFile
from django.http import HttpRequest
from django.http.response import HttpResponseBase
from django.urls import reverse
from unfold.widgets import (
    UnfoldAdminFileFieldWidget,
    UnfoldAdminSelectWidget,
    UnfoldBooleanWidget,
)

from notifications.core.admin import base, confirmation
from notifications.core.admin.audited import name_of
from notifications.core.models import Recipient
from notifications.core.models.choices import MODES
from notifications.core.rules.lane import Mode
from notifications.features.moving import recipient_uploads
from notifications.features.moving.export import WrongExport
from notifications.features.moving.plans import Report
from notifications.features.moving.recipient_uploads import ImportsBusy
from notifications.features.moving.vendors import recipient_csv

_RIGHT: Final = "notifications.change_recipient"
_RIGHTS: Final = {
    "contacts": "notifications.change_contact",
    "preferences": "notifications.change_preference",
}
_IMPORT: Final = "import"
"""Value of the button that imports; the other button checks."""


class RecipientImportForm(forms.Form):
    """A file with a bounded size."""

    mode = forms.TypedChoiceField(
        choices=MODES,
        coerce=lambda value: Mode(int(value)),
        initial=Mode.LIVE.value,
        widget=UnfoldAdminSelectWidget,
    )
    file = forms.FileField(
        label="CSV file", widget=UnfoldAdminFileFieldWidget(attrs={"accept": ".csv,.txt"})
    )
    is_partial = forms.BooleanField(
        label="Import the other lines although a line has a fault",
        required=False,
        widget=UnfoldBooleanWidget,
    )

    def clean_file(self) -> UploadedFile[Any]:
        """Return the file.

        Raises:
            ValidationError: the file is too large.
        """
        file: UploadedFile[Any] = self.cleaned_data["file"]
        if (file.size or 0) > recipient_uploads.MAX_BYTES:
            said = f"The file may have {recipient_uploads.MAX_BYTES} bytes; split the file."
            raise forms.ValidationError(said)
        return file


def show(request: HttpRequest) -> HttpResponseBase:
    """Show the form, and after a check or an import the report.

    Raises:
        PermissionDenied: the operator may not change recipients, contacts or preferences.
    """
    _require(request, _RIGHT)
    is_post = request.method == "POST"
    form = RecipientImportForm(*((request.POST, request.FILES) if is_post else ()))
    report = _run(request, form) if is_post and form.is_valid() else None
    context = {
        "form": form,
        "report": report,
        "shown": _shown(request, form, report),
        "counts": None
        if report is None
        else (report.imported["recipients"], report.unchanged["recipients"]),
        "left_out": () if report is None else sorted(report.left_out.items()),
        "is_refused": bool(report and not report.is_written and request.POST.get("do") == _IMPORT),
        "columns": ", ".join(recipient_csv.COLUMNS),
        "most": recipient_uploads.MAX_LINES,
        "back": reverse("admin:notifications_recipient_changelist"),
    }
    return base.page(
        admin.site.get_model_admin(Recipient),
        request,
        "moving/recipient_import.html",
        title="Import recipients",
        context=context,
        is_of_model=False,
    )


def _run(request: HttpRequest, form: RecipientImportForm) -> Report | None:
    """Check or import the file; None if the file cannot be used.

    Raises:
        PermissionDenied: the operator may not change a part that the columns change.
    """
    data = form.cleaned_data
    raw = data["file"].read()
    is_import = request.POST.get("do") == _IMPORT
    was_checked = confirmation.STAMP in request.POST
    if is_import and was_checked and not confirmation.is_seen(request, _stamp(raw, data)):
        form.add_error("file", "This is not the file, or not the mode, of the check: check it.")
        return None
    try:
        for part in recipient_uploads.parts_of(raw):
            _require(request, _RIGHTS[part])
        return recipient_uploads.run(
            raw,
            mode=data["mode"],
            by=name_of(request),
            is_dry=not is_import,
            is_partial=data["is_partial"],
        )
    except (WrongExport, ImportsBusy) as error:
        form.add_error("file", f"{error}.")
        return None


def _require(request: HttpRequest, right: str) -> None:
    if not request.user.has_perm(right):
        raise PermissionDenied


def _shown(request: HttpRequest, form: RecipientImportForm, report: Report | None) -> str:
    """Return the stamp of the checked file: of this request, else of the check before."""
    if report is None:
        return request.POST.get(confirmation.STAMP, "")
    if report.is_written:
        return ""
    file = form.cleaned_data["file"]
    file.seek(0)
    return _stamp(file.read(), form.cleaned_data)


def _stamp(raw: bytes, data: dict[str, Any]) -> str:
    return confirmation.stamp(hashlib.sha256(raw).hexdigest(), data["mode"])
