"""The forms of a template's version: what they take in could be published, or says why not."""

from __future__ import annotations

from typing import Any, Final

from django import forms
from django.http import HttpRequest
from unfold.admin import StackedInline
from unfold.widgets import UnfoldAdminTextInputWidget

from notifications.models import Template, TemplateText
from notifications.rules.language import locales, templating, variables
from notifications.store.templates import versions

_TEXTS_A_PAGE: Final = 6
"""Texts in the form at once: the one of fifty languages has more fields than Django takes back."""


def is_draft(template: Template | None) -> bool:
    """Whether it may still be edited; none yet counts as one."""
    return template is None or template.published_at is None


class TextForm(forms.ModelForm[TemplateText]):
    """A text whose sources could be rendered whatever their variables hold."""

    def clean_locale(self) -> str:
        """As BCP 47 spells it.

        Raises:
            forms.ValidationError: CLDR knows no such locale.
        """
        return _locale(self.cleaned_data["locale"])

    def clean(self) -> dict[str, Any]:
        """Every fault of every source becomes that field's error, with its line."""
        cleaned: dict[str, Any] = super().clean() or self.cleaned_data
        for source in ("body", "html"):
            cleaned[source] = (cleaned.get(source) or "").replace("\r\n", "\n")
        for source in versions.SOURCES:
            for fault in templating.check(cleaned.get(source) or ""):
                self.add_error(source, f"Line {fault.line}: {fault.detail}.")
        return cleaned


class TextInline(StackedInline):
    """The texts of a version, one for each channel and locale."""

    model = TemplateText
    form = TextForm
    extra = 0
    per_page = _TEXTS_A_PAGE  # type: ignore[assignment]  # unfold types its default, None

    def has_change_permission(self, request: HttpRequest, obj: Template | None = None) -> bool:
        """Only in a draft."""
        return is_draft(obj) and super().has_change_permission(request, obj)

    def has_add_permission(self, request: HttpRequest, obj: Template | None = None) -> bool:
        """Only in a draft."""
        return is_draft(obj) and super().has_add_permission(request, obj)

    def has_delete_permission(self, request: HttpRequest, obj: Template | None = None) -> bool:
        """Only in a draft."""
        return is_draft(obj) and super().has_delete_permission(request, obj)


class TemplateForm(forms.ModelForm[Template]):
    """Refuses to save what somebody else has published since the page was opened."""

    class Meta:
        """A line is enough for a few names."""

        widgets = {  # noqa: RUF012 - Django's way
            "sensitive_variables": UnfoldAdminTextInputWidget,
            "no_longer_sensitive": UnfoldAdminTextInputWidget,
        }

    def clean_default_locale(self) -> str:
        """As BCP 47 spells it.

        Raises:
            forms.ValidationError: CLDR knows no such locale.
        """
        return _locale(self.cleaned_data["default_locale"])

    def clean_variables(self) -> list[Any]:
        """Only what says a type for each name, and an example that is of it.

        Raises:
            forms.ValidationError: the first that does not.
        """
        declared = self.cleaned_data["variables"] or []
        try:
            variables.read(declared)
        except variables.MalformedDeclaration as error:
            raise forms.ValidationError(str(error)) from error
        return list(declared)

    def clean(self) -> dict[str, Any]:
        """Look again.

        Raises:
            forms.ValidationError: the version is published by now.
        """
        cleaned: dict[str, Any] = super().clean() or self.cleaned_data
        if Template.objects.filter(pk=self.instance.pk).exclude(published_at=None).exists():
            raise forms.ValidationError("This version is published. Make a new draft from it.")
        return cleaned


def _locale(typed: str) -> str:
    if not locales.is_known(typed):
        raise forms.ValidationError("CLDR knows no such locale; write one like en, pt-BR, zh-Hant.")
    return locales.normalised(typed)
