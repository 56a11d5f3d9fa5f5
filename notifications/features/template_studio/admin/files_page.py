"""The page of the attachments of a version: the list, and in a draft uploads and removals.

POST do=add, file, inline_id     adds a file to the draft
POST do=remove, name             removes a file from the draft
"""

from __future__ import annotations

from typing import Any, Final

from django.contrib import admin, messages
from django.core.exceptions import PermissionDenied
from django.core.files.uploadedfile import UploadedFile
from django.http import HttpRequest, HttpResponse, HttpResponseRedirect
from django.urls import reverse

from notifications.core import conf
from notifications.core.admin import base
from notifications.core.models import Template
from notifications.core.rules import attachments
from notifications.core.rules.attachments import ENDINGS, WrongFiles
from notifications.core.store.postgres import audit
from notifications.core.store.templates import files, versions
from notifications.features.template_studio.admin.forms import FileForm, is_draft

_TYPES: Final = {ending: type_ for type_, endings in ENDINGS.items() for ending in endings}


def answer(
    model_admin: admin.ModelAdmin[Any], request: HttpRequest, version: Template
) -> HttpResponse:
    """Show the page, or change the files of a draft and show the page again.

    Raises:
        PermissionDenied: the operator may not change templates.
    """
    may_write = bool(request.user.has_perm("notifications.change_template"))
    if request.method != "POST":
        return _page(model_admin, request, version, may_write=may_write)
    if not may_write:
        raise PermissionDenied
    try:
        said = _change(request, version)
    except WrongFiles as error:
        return _page(model_admin, request, version, may_write=True, fault=str(error))
    model_admin.message_user(request, said, messages.SUCCESS)
    page = reverse("admin:notifications_template_attachments", args=[version.pk])
    return HttpResponseRedirect(page)


def _change(request: HttpRequest, version: Template) -> str:
    """Change the files of the draft; returns a sentence for the operator.

    Raises:
        WrongFiles: the version is published, or the file cannot be sent.
    """
    by, own = request.user.get_username(), Template.objects.filter(pk=version.pk)
    if request.POST.get("do") == "remove":
        name = request.POST.get("name", "")
        with audit.changes(by, "edit_template", own):
            versions.edit_files(version, lambda found: _without(found, name), by=by)
        return f"{name} is no longer attached."
    given = request.FILES.get("file")
    if not isinstance(given, UploadedFile):
        raise WrongFiles("Choose a file.")
    name, inline_id = given.name or "", request.POST.get("inline_id", "").strip() or None
    type_ = _TYPES.get(name.lower().rpartition(".")[2])
    if type_ is None:
        raise WrongFiles(
            f"{name}: the name must end with one of {', '.join(f'.{each}' for each in _TYPES)}."
        )
    stored = files.store(type_, given.read(conf.current().attachments_max_bytes + 1))
    with audit.changes(by, "edit_template", own):
        versions.edit_files(
            version,
            lambda found: files.with_file(found, stored, name=name, inline_id=inline_id),
            by=by,
        )
    return f"{name} is attached."


def _without(version: Template, name: str) -> list[dict[str, Any]]:
    return [each for each in version.attachments if each["name"] != name]


def _page(
    model_admin: admin.ModelAdmin[Any],
    request: HttpRequest,
    version: Template,
    *,
    may_write: bool,
    fault: str = "",
) -> HttpResponse:
    context = {
        "template": version,
        "attachments": attachments.of_template(version.attachments),
        "may_write": may_write and is_draft(version),
        "form": FileForm(initial=request.POST.dict()),
        "fault": fault,
    }
    return base.page(
        model_admin,
        request,
        "template_studio/attachments.html",
        title=f"Attachments: {version}",
        context=context,
    )
