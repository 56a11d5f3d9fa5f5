"""The page on which an operator imports templates from a zip file, as drafts or published."""

from __future__ import annotations

from typing import Any

from django.contrib import admin, messages
from django.core.exceptions import BadRequest, PermissionDenied
from django.core.files.uploadedfile import UploadedFile
from django.db import transaction
from django.http import HttpRequest, HttpResponse, HttpResponseRedirect
from django.urls import reverse

from notifications.core import conf
from notifications.core.admin import base
from notifications.core.models import Template
from notifications.core.rules.templates.file_format import BrokenFiles
from notifications.core.store.postgres import audit
from notifications.features.template_studio.admin import zip_files
from notifications.features.template_studio.admin.forms import ZipForm


def answer(
    model_admin: admin.ModelAdmin[Any], request: HttpRequest, *, may_publish: bool
) -> HttpResponse:
    """Show the page, or import the templates of the uploaded file.

    The operator of the upload is the author of the versions, so nothing is published where
    NOTIFY_PUBLISH_NEEDS_SECOND_PERSON wants another publisher.

    Raises:
        BadRequest: the form has no file.
        PermissionDenied: publishing was requested and is not permitted.
    """
    may_publish = may_publish and not conf.current().publish_needs_second_person
    if request.method != "POST":
        page, context = (
            "template_studio/upload.html",
            {"form": ZipForm(), "may_publish": may_publish},
        )
        return base.page(model_admin, request, page, title="Upload templates", context=context)
    publish = bool(request.POST.get("publish"))
    if publish and not may_publish:
        raise PermissionDenied
    given = request.FILES.get("archive")
    if not isinstance(given, UploadedFile):
        raise BadRequest("the form has no file in the field archive")
    by = request.user.get_username()
    try:
        with transaction.atomic():
            changes = zip_files.load(given, by=by, publish=publish)
            audit.record(by, "import_templates", Template(), after=changes)
    except BrokenFiles as error:
        model_admin.message_user(request, f"Nothing was imported: {error}", messages.ERROR)
    else:
        told = "; ".join(f"{name}: {change}" for name, change in changes.items())
        told = told or "The zip file has no template."
        model_admin.message_user(request, told, messages.SUCCESS)
    return HttpResponseRedirect(reverse("admin:notifications_template_changelist"))
