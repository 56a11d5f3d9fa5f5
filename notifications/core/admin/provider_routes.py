"""Routes of channels to providers. A change applies in all processes within two seconds.

A row can name configured providers only, and only channels and platforms which the provider
supports. A row of a provider without settings is skipped, and the list shows this state.
"""

from __future__ import annotations

from typing import Any, ClassVar

from django import forms
from django.contrib import admin
from django.http import HttpRequest, HttpResponse
from django.urls import URLPattern, path
from unfold.decorators import display
from unfold.widgets import UnfoldAdminSelectWidget

from notifications.core import conf
from notifications.core.admin import providers
from notifications.core.admin.audited import AuditedAdmin
from notifications.core.delivery import routing
from notifications.core.models import ProviderRoute
from providers.contract import Provider


class ProviderRouteForm(forms.ModelForm[ProviderRoute]):
    """Validates the provider, channel and platform."""

    def __init__(self, *arguments: Any, **options: Any) -> None:  # noqa: ANN401 - Django's signature
        super().__init__(*arguments, **options)
        offered = [(name, name) for name in _names(self.instance)]
        self.fields["provider"] = forms.ChoiceField(choices=offered, widget=UnfoldAdminSelectWidget)

    def clean(self) -> dict[str, Any]:
        """Reject rows which the router would skip."""
        row: dict[str, Any] = super().clean() or self.cleaned_data
        name = row.get("provider", "")
        provider = routing.provider_named(name)
        if provider is not None:
            self._check(row, provider)
        elif name:
            self.add_error("provider", f"{name} has no settings in the environment.")
        return row

    def _check(self, row: dict[str, Any], provider: Provider) -> None:
        able = provider.capabilities
        if row.get("channel") not in {None, *able.channels}:
            channels = ", ".join(channel.label for channel in sorted(able.channels))
            self.add_error("provider", f"{provider.name} supports only: {channels}.")
        kinds = able.address_kinds
        if kinds and row.get("platform") not in {None, "", *kinds}:
            self.add_error(
                "platform", f"{provider.name} supports only: {', '.join(sorted(kinds))}."
            )


def _names(row: ProviderRoute) -> list[str]:
    """Return the selectable providers, and the provider of the row without settings."""
    return sorted({*routing.providers_by_name(), row.provider} - {""})


@admin.register(ProviderRoute)
class ProviderRouteAdmin(AuditedAdmin):
    """The routing rows; rank, weight and switch can be changed in the list."""

    form = ProviderRouteForm
    fields = ("channel", "region", "platform", "provider", "rank", "weight", "is_enabled")
    list_display = (
        *("channel", "region", "platform", "provider", "state"),
        *("rank", "weight", "is_enabled"),
    )
    list_display_links = ("channel", "provider")
    list_editable = ("rank", "weight", "is_enabled")
    list_filter = ("channel",)
    list_before_template = "admin/route_defaults.html"  # type: ignore[assignment]  # unfold types its default, None
    sortable_by = ()

    class Media:
        """Styles of the card above the list."""

        css: ClassVar = {"all": ("notifications/console.css",)}

    @display(
        description="State",
        label={"in use": "success", "off": "warning", "not configured": "danger"},
    )
    def state(self, row: ProviderRoute) -> str:
        """Return `in use`, `off` or `not configured`."""
        if routing.provider_named(row.provider) is None:
            return "not configured"
        return "in use" if row.is_enabled else "off"

    def get_urls(self) -> list[URLPattern]:
        """Add the page of providers."""
        view = self.admin_site.admin_view(self.providers_view)
        guide = self.admin_site.admin_view(providers.guide)
        return [
            path("providers/", view, name="notifications_providers"),
            path("providers/guide/", guide, name="notifications_providers_guide"),
            *super().get_urls(),
        ]

    def providers_view(self, request: HttpRequest) -> HttpResponse:
        """Show the providers, with buttons to check credentials and send a test."""
        return providers.view(self, request)

    def changelist_view(
        self, request: HttpRequest, extra_context: dict[str, Any] | None = None
    ) -> Any:  # noqa: ANN401 - Django's own annotation
        """Add the defaults from NOTIFY_ROUTES to the list."""
        defaults = [(each.label, name) for each, name in sorted(conf.current().routes.items())]
        context: dict[str, Any] = {**(extra_context or {}), "defaults": defaults}
        return super().changelist_view(request, context)
