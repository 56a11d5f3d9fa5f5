"""Paces: how fast each provider may be called, where an adapter's own answer does not fit us."""

from __future__ import annotations

from django import forms
from django.contrib import admin
from unfold.widgets import UnfoldAdminSelectWidget

from notifications.admin.audited import AuditedAdmin
from notifications.delivery import routing
from notifications.models import ProviderPace


def _names() -> list[tuple[str, str]]:
    return [(name, name) for name in sorted(routing.providers_by_name())]


class ProviderPaceForm(forms.ModelForm[ProviderPace]):
    """Only providers that are configured: a name with a slip in it would change nothing."""

    provider = forms.ChoiceField(choices=_names, widget=UnfoldAdminSelectWidget)


@admin.register(ProviderPace)
class ProviderPaceAdmin(AuditedAdmin):
    """Plain editing. Deleting a row gives its adapter's own pace back."""

    form = ProviderPaceForm
    list_display = ("provider", "burst", "per_second")
