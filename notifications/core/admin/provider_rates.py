"""Rate limits of providers, which replace the adapters' defaults."""

from __future__ import annotations

from django import forms
from django.contrib import admin
from unfold.widgets import UnfoldAdminSelectWidget

from notifications.core.admin.audited import AuditedAdmin
from notifications.core.delivery import routing
from notifications.core.models import ProviderPace


def _names() -> list[tuple[str, str]]:
    return [(name, name) for name in sorted(routing.providers_by_name())]


class ProviderPaceForm(forms.ModelForm[ProviderPace]):
    """Offers configured providers only, because an unknown name would have no effect."""

    provider = forms.ChoiceField(choices=_names, widget=UnfoldAdminSelectWidget)


@admin.register(ProviderPace)
class ProviderPaceAdmin(AuditedAdmin):
    """Editable list. Deleting a row restores the adapter's default."""

    form = ProviderPaceForm
    list_display = ("provider", "burst", "per_second")
