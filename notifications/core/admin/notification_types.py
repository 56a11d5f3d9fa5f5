"""Notification types: priority, category and retry preset. A change applies at once."""

from __future__ import annotations

from typing import Any, Final

from django import forms
from django.contrib import admin
from django.core.validators import RegexValidator
from unfold.decorators import display
from unfold.widgets import UnfoldAdminSelectWidget

from notifications.core import gate
from notifications.core.admin.audited import AuditedAdmin
from notifications.core.admin.monitoring.links import traffic_link
from notifications.core.gate import Place
from notifications.core.models import NotificationType
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


@admin.register(NotificationType)
class NotificationTypeAdmin(AuditedAdmin):
    """Editable list. Accepted notifications keep the values of acceptance."""

    form = NotificationTypeForm
    exclude = () if gate.is_taken(Place.DIGEST) else ("digest_template",)
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
