"""The router's data: which priority, category and retry policy a type has. Effective at once."""

from __future__ import annotations

from typing import Any

from django import forms
from django.contrib import admin
from unfold.widgets import UnfoldAdminSelectWidget

from notifications.admin.audited import AuditedAdmin
from notifications.models import NotificationType
from notifications.store.cached import retry_presets


class NotificationTypeForm(forms.ModelForm[NotificationType]):
    """A type can choose any retry preset that there is now."""

    def __init__(self, *arguments: Any, **options: Any) -> None:  # noqa: ANN401 - Django's signature
        super().__init__(*arguments, **options)
        names = sorted({*retry_presets.every(), self.instance.retry_preset} - {""})
        self.fields["retry_preset"] = forms.ChoiceField(
            choices=[("", "by priority and channel"), *((name, name) for name in names)],
            required=False,
            widget=UnfoldAdminSelectWidget,
            help_text="How failed calls are tried again.",
        )


@admin.register(NotificationType)
class NotificationTypeAdmin(AuditedAdmin):
    """Plain editing; what was already accepted keeps the values that it was accepted with."""

    form = NotificationTypeForm
    list_display = ("name", "priority", "category", "retry_preset", "digest_template")
    list_filter = ("priority",)
    search_fields = ("name",)
