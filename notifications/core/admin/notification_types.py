"""Notification types: priority, category, retry preset, and texts. A change applies at once.

The texts are names and descriptions of categories and types for recipients, by locale.
"""

from __future__ import annotations

from typing import Any, Final

from django import forms
from django.contrib import admin
from django.core.exceptions import ValidationError
from django.core.validators import RegexValidator
from unfold.decorators import display
from unfold.widgets import UnfoldAdminSelectWidget

from notifications.core import gate
from notifications.core.admin.audited import AuditedAdmin
from notifications.core.admin.monitoring.links import traffic_link
from notifications.core.gate import Place
from notifications.core.models import NotificationType, TopicText
from notifications.core.rules.language import locales
from notifications.core.store.cached import retry_presets

_NAME: Final = RegexValidator(r"\A[A-Za-z0-9_.:\-]+\Z", "Use letters, digits and . _ : - only.")


class NotificationTypeForm(forms.ModelForm[NotificationType]):
    """Offers all current retry presets."""

    def __init__(self, *arguments: Any, **options: Any) -> None:  # noqa: ANN401 - Django's signature
        super().__init__(*arguments, **options)
        if not self.fields:
            return  # the page of an operator who may only view the type
        names = sorted({*retry_presets.every(), self.instance.retry_preset} - {""})
        self.fields["retry_preset"] = forms.ChoiceField(
            choices=[("", "by priority and channel"), *((name, name) for name in names)],
            required=False,
            widget=UnfoldAdminSelectWidget,
            help_text="The retry policy for failed calls.",
        )
        if "name" in self.fields:
            self.fields["name"].validators.append(_NAME)
        self.fields["category"].validators.append(_NAME)
        if "batch_window_seconds" in self.fields:
            self.fields["batch_window_seconds"].required = False

    def clean_batch_window_seconds(self) -> int:
        """Return the seconds; an empty field is no window."""
        return self.cleaned_data["batch_window_seconds"] or 0

    def clean(self) -> dict[str, Any]:
        """Return the values.

        Raises:
            ValidationError: a batch window without digest template.
        """
        values = super().clean() or self.cleaned_data
        if values.get("batch_window_seconds") and not values.get("digest_template"):
            raise ValidationError({
                "batch_window_seconds": "A batch window needs the digest template that replaces the"
                " messages."
            })
        return values


@admin.register(NotificationType)
class NotificationTypeAdmin(AuditedAdmin):
    """Editable list. Accepted notifications keep the values of acceptance."""

    form = NotificationTypeForm
    exclude = () if gate.is_taken(Place.DIGEST) else ("digest_template", "batch_window_seconds")
    list_display = (
        "name",
        "priority",
        "category",
        "retry_preset",
        "digest_template",
        "is_mandatory",
        "fallback_on",
        "plots",
    )
    readonly_fields = ("plots",)
    list_filter = ("priority",)
    search_fields = ("name",)

    @display(description="Plots")
    def plots(self, row: NotificationType) -> str:
        """Return the link to the page with plots."""
        return traffic_link("type", row.pk)


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
