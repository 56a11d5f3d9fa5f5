"""Topic texts: names and descriptions of categories and types for recipients, by locale."""

from __future__ import annotations

from typing import Any

from django import forms
from django.contrib import admin
from django.core.exceptions import ValidationError

from notifications.core.admin.audited import AuditedAdmin
from notifications.core.models import NotificationType, TopicText
from notifications.core.rules.language import locales


class TopicTextForm(forms.ModelForm[TopicText]):
    """Checks the locale, and that a type has or is the topic."""

    def clean_locale(self) -> str:
        """Return the normalised locale (BCP 47).

        Raises:
            ValidationError: CLDR has no such locale.
        """
        tag = locales.normalize(self.cleaned_data["locale"])
        if not locales.is_known(tag):
            raise ValidationError("Unknown locale. Use a BCP 47 tag such as pt-BR.")
        return tag

    def clean_topic(self) -> str:
        """Return the topic.

        Raises:
            ValidationError: no notification type has this name or this category.
        """
        topic: str = self.cleaned_data["topic"]
        types = NotificationType.objects
        if not (types.filter(pk=topic) | types.filter(category=topic)).exists():
            raise ValidationError("No notification type has this name or this category.")
        return topic


@admin.register(TopicText)
class TopicTextAdmin(AuditedAdmin):
    """A change applies within a second. A topic without a text shows its readable key."""

    form = TopicTextForm
    list_display = ("topic", "locale", "name", "description")
    list_filter = ("locale",)
    search_fields = ("topic", "name")

    def get_readonly_fields(self, request: Any, obj: TopicText | None = None) -> tuple[str, ...]:  # noqa: ANN401, ARG002 - Django's signature
        """Return the read-only fields: a text keeps its topic and locale."""
        return ("topic", "locale") if obj else ()
