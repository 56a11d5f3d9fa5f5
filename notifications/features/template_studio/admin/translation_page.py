"""The page with the files for translators: download the texts of a version, upload translations.

GET  ?to=de&from=en&format=xlf     the file
POST file                          a draft with the translations, opened in the editor
"""

from __future__ import annotations

from typing import Any, Final

from django.contrib import admin, messages
from django.core.exceptions import PermissionDenied
from django.core.files.uploadedfile import UploadedFile
from django.http import HttpRequest, HttpResponse, HttpResponseRedirect
from django.urls import reverse

from notifications.core.admin import base
from notifications.core.models import Template
from notifications.core.rules.language import locales
from notifications.core.store.templates.import_export import ImportEffect
from notifications.features.template_studio import translations
from notifications.features.template_studio.admin.forms import TranslationForm
from notifications.features.template_studio.rules.units import TranslatedFile, WrongTranslation
from notifications.features.template_studio.translations import FileFormat

_TYPES: Final = {
    FileFormat.XLIFF: "application/x-xliff+xml",
    FileFormat.CSV: "text/csv; charset=utf-8",
}


def answer(
    model_admin: admin.ModelAdmin[Any], request: HttpRequest, version: Template, *, may_write: bool
) -> HttpResponse:
    """Show the page, return the file that the query asks for, or import an uploaded file.

    Raises:
        PermissionDenied: the operator may not change templates.
    """
    if request.method != "POST":
        return _show(model_admin, request, version, may_write=may_write)
    if not may_write:
        raise PermissionDenied
    return _load(model_admin, request, version, by=request.user.get_username())


def _show(
    model_admin: admin.ModelAdmin[Any], request: HttpRequest, version: Template, *, may_write: bool
) -> HttpResponse:
    """Show the page, or return the file that the query asks for."""
    if "to" not in request.GET:
        return _page(model_admin, request, version, may_write=may_write)
    asked = request.GET
    try:
        file_format = translations.format_of(f".{asked.get('format', FileFormat.XLIFF)}")
        found = translations.units_of(version, source=asked.get("from", ""), target=asked["to"])
    except WrongTranslation as error:
        return _page(model_admin, request, version, may_write=may_write, faults=error.faults)
    data = translations.write([found], file_format)
    answer = HttpResponse(data, content_type=_TYPES[file_format])
    name = f"{version.template_id}-v{version.version}.{found.target}.{file_format}"
    answer["Content-Disposition"] = f'attachment; filename="{name}"'
    return answer


def _load(
    model_admin: admin.ModelAdmin[Any], request: HttpRequest, version: Template, *, by: str
) -> HttpResponse:
    """Import the uploaded file, and open the draft in the editor; a fault shows the page again."""
    try:
        imported = translations.load(_read(request, version), by=by)[-1]
    except WrongTranslation as error:
        return _page(model_admin, request, version, may_write=True, faults=error.faults)
    made, locale = imported.version, imported.locale
    if imported.effect is ImportEffect.NOTHING:
        said = f"{made} has these texts in {locale} already."
    else:
        said = f"{made} is a draft with the texts in {locale}. Check and publish the draft."
    model_admin.message_user(request, said, messages.SUCCESS)
    page = reverse("admin:notifications_template_editor", args=[made.pk])
    return HttpResponseRedirect(f"{page}?locale={locale}")


def _read(request: HttpRequest, version: Template) -> list[TranslatedFile]:
    """Return the translations of the uploaded file.

    Raises:
        WrongTranslation: there is no file, the file cannot be used, or is for another template.
    """
    given = request.FILES.get("file")
    if not isinstance(given, UploadedFile):
        raise WrongTranslation("choose a file")
    data = given.read(translations.MAX_BYTES + 1)
    files = translations.read(data, translations.format_of(given.name or ""))
    for file in files:
        if file.template_id != version.template_id:
            raise WrongTranslation(
                f"the file is for the template {file.template_id[:64]!r}: upload the file there, or"
                " import a file of several templates with manage.py translate_templates"
            )
    return files


def _page(
    model_admin: admin.ModelAdmin[Any],
    request: HttpRequest,
    version: Template,
    *,
    may_write: bool,
    faults: tuple[str, ...] = (),
) -> HttpResponse:
    there = sorted(set(version.texts.values_list("locale", flat=True)))
    context = {
        "template": version,
        "locales": there,
        "source": locales.choose(there, version.default_locale),
        "target": request.GET.get("to", ""),
        "faults": faults,
        "form": TranslationForm(),
        "may_write": may_write,
    }
    return base.page(
        model_admin,
        request,
        "template_studio/translation.html",
        title=f"Translate: {version}",
        context=context,
    )
