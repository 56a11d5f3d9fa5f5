"""Forms of template versions, with all checks required for publishing."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from typing import Any, Final

from django import forms
from django.http import HttpRequest
from unfold.admin import StackedInline
from unfold.widgets import UnfoldAdminFileFieldWidget, UnfoldAdminTextInputWidget

from notifications.core.models import Template, TemplateText
from notifications.core.rules.language import locales, templating, variables
from notifications.core.rules.templates import one_off
from notifications.core.rules.texts import mail_blocks, variants, vendor_template
from notifications.core.store.templates import versions
from providers.contract import Channel

_TEXTS_A_PAGE: Final = 6
"""Texts per page: a form with fifty languages would exceed Django's limit of form fields."""


def is_draft(template: Template | None) -> bool:
    """Return True for a draft or a new version."""
    return template is None or template.published_at is None


class ZipForm(forms.Form):
    """A zip file with templates."""

    archive = forms.FileField(
        label="Zip", widget=UnfoldAdminFileFieldWidget(attrs={"accept": ".zip,application/zip"})
    )


class TranslationForm(forms.Form):
    """A file of a translator."""

    file = forms.FileField(
        label="File", widget=UnfoldAdminFileFieldWidget(attrs={"accept": ".xlf,.xliff,.csv"})
    )


class FileForm(forms.Form):
    """A file that is sent with the e-mails of a version."""

    file = forms.FileField(label="File", widget=UnfoldAdminFileFieldWidget)
    inline_id = forms.CharField(
        required=False,
        max_length=64,
        label='Inline id, for an image in the text: <img src="cid:ID">, in blocks ![Logo](cid:ID)',
        widget=UnfoldAdminTextInputWidget(attrs={"pattern": r"[A-Za-z0-9_\-]+"}),
    )


class TextForm(forms.ModelForm[TemplateText]):
    """Validates a text for all values of the variables."""

    def clean_locale(self) -> str:
        """Return the normalised locale (BCP 47).

        Raises:
            forms.ValidationError: CLDR has no such locale.
        """
        return _locale(self.cleaned_data["locale"])

    def clean_variant(self) -> str:
        """Check the name of the variant.

        Raises:
            forms.ValidationError: the name has another form.
        """
        name = str(self.cleaned_data["variant"])
        if not re.fullmatch(variants.NAME, name):
            raise forms.ValidationError(f"The name of a variant {variants.NAME_RULE}.")
        return name

    def clean(self) -> dict[str, Any]:
        """Add the errors of every source to the field, with line numbers."""
        cleaned: dict[str, Any] = super().clean() or self.cleaned_data
        for source in ("body", "html"):
            cleaned[source] = (cleaned.get(source) or "").replace("\r\n", "\n")
        cleaned["blocks"] = (cleaned.get("blocks") or "").replace("\r\n", "\n")
        if cleaned["blocks"]:
            self._compile_blocks(cleaned)
        for detail in _template_faults(cleaned):
            self.add_error("vendor_template", f"{detail}.")
        for source in versions.SOURCES:
            for fault in templating.check(cleaned.get(source) or ""):
                self.add_error(source, f"Line {fault.line}: {fault.detail}.")
        return cleaned

    def _compile_blocks(self, cleaned: dict[str, Any]) -> None:
        if cleaned.get("channel") != Channel.EMAIL:
            self.add_error("blocks", "Only an e-mail has blocks.")
            return
        for fault in mail_blocks.faults(cleaned["blocks"]):
            self.add_error("blocks", f"Line {fault.line}: {fault.detail}.")
            return
        locale = cleaned.get("locale") or locales.DEFAULT
        compiled = mail_blocks.compile_blocks(cleaned["blocks"], locale=locale)
        cleaned |= compiled._asdict()


class TextInline(StackedInline):
    """The texts of a version by channel, locale and variant."""

    model = TemplateText
    form = TextForm
    extra = 0
    per_page = _TEXTS_A_PAGE  # type: ignore[assignment]  # unfold types its default, None

    def has_change_permission(self, request: HttpRequest, obj: Template | None = None) -> bool:
        """Return True for a draft."""
        return is_draft(obj) and super().has_change_permission(request, obj)

    def has_add_permission(self, request: HttpRequest, obj: Template | None = None) -> bool:
        """Return True for a draft."""
        return is_draft(obj) and super().has_add_permission(request, obj)

    def has_delete_permission(self, request: HttpRequest, obj: Template | None = None) -> bool:
        """Return True for a draft."""
        return is_draft(obj) and super().has_delete_permission(request, obj)


class TemplateForm(forms.ModelForm[Template]):
    """Rejects changes of a version published since the page was opened."""

    class Meta:
        """Short lists of names need a single line."""

        widgets = {  # noqa: RUF012 - Django's way
            "sensitive_variables": UnfoldAdminTextInputWidget,
            "no_longer_sensitive": UnfoldAdminTextInputWidget,
        }

    def clean_template_id(self) -> str:
        """Return the name.

        Raises:
            forms.ValidationError: the name belongs to the text of a bulk job.
        """
        name = str(self.cleaned_data["template_id"])
        if one_off.is_one_off(name):
            raise forms.ValidationError(f"{one_off.RESERVED.capitalize()}.")
        return name

    def clean_default_locale(self) -> str:
        """Return the normalised locale (BCP 47).

        Raises:
            forms.ValidationError: CLDR has no such locale.
        """
        return _locale(self.cleaned_data["default_locale"])

    def clean_variables(self) -> list[Any]:
        """Check the declarations: a type for every name, and an example of the type.

        Raises:
            forms.ValidationError: a declaration is malformed.
        """
        declared = self.cleaned_data["variables"] or []
        try:
            variables.parse_new_declarations(declared)
        except variables.MalformedDeclaration as error:
            raise forms.ValidationError(str(error)) from error
        return list(declared)

    def clean(self) -> dict[str, Any]:
        """Check the state of the version again.

        Raises:
            forms.ValidationError: the version is already published.
        """
        cleaned: dict[str, Any] = super().clean() or self.cleaned_data
        if Template.objects.filter(pk=self.instance.pk).exclude(published_at=None).exists():
            raise forms.ValidationError("This version is published. Make a new draft from it.")
        return cleaned


def _template_faults(cleaned: Mapping[str, Any]) -> Iterator[str]:
    """Yield a clause for each fault of the vendor template of a text."""
    stored = cleaned.get("vendor_template") or {}
    found = vendor_template.read(stored)
    if stored and cleaned.get("channel") != Channel.CHAT:
        yield "Only a chat text has a template of a vendor"
    if vendor_template.written(found) != stored:
        yield "Write ids, by provider, and parameters, a list; all are texts"
    for place, detail in vendor_template.structure_faults(found):
        yield f"{'.'.join(map(str, place))} {detail}"
    for label, source in vendor_template.sources(found):
        for fault in templating.check(source):
            yield f"{label}: {fault.detail}"


def _locale(typed: str) -> str:
    if not locales.is_known(typed):
        raise forms.ValidationError(
            "Unknown locale. Use a BCP 47 tag such as en, pt-BR or zh-Hant."
        )
    return locales.normalize(typed)
