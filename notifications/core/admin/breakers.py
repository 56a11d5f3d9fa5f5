"""Circuit breakers: current state with reason, holds and overrides by operators, latest events.

Rate limits of providers, which replace the adapters' defaults, are a list of their own.

The page shows the current state in the state Redis for every configured provider and channel. A
hold is a switch (`admin.switches`), which asks for a reason and a duration. The override "ignore
failures" lasts until removal. Each change has a page that asks for confirmation.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any, Final

from django import forms
from django.contrib import admin, messages
from django.core.exceptions import BadRequest, PermissionDenied
from django.http import HttpRequest, HttpResponse, HttpResponseRedirect
from django.urls import URLPattern, path, reverse
from unfold.widgets import UnfoldAdminSelectWidget

from notifications.core.admin import base
from notifications.core.admin.audited import AuditedAdmin, name_of
from notifications.core.admin.monitoring.links import subject_page
from notifications.core.admin.switches import hold_link, may_resume, may_set
from notifications.core.delivery import routing
from notifications.core.models import Breaker, BreakerEvent, ProviderPace, Switch
from notifications.core.operations import switches
from notifications.core.rules.rate_limits.circuit_breaker import BreakerOverride
from notifications.core.rules.switches import SwitchKind
from notifications.core.store.cached.provider_overrides import Pair
from notifications.core.store.postgres import audit
from notifications.core.store.rate_limits import breaker_status, circuit_breakers
from notifications.core.store.rate_limits.breaker_status import BreakerStatus, OpenEndpoints
from providers.contract import Channel

_ENDPOINTS: Final = 20
"""Open endpoints shown per provider, in addition to the number of open endpoints."""
_LATEST: Final = 20
"""Changes below the table; the list of events has the probes too, one each few seconds."""

_AUTO: Final = "auto"
"""The override AUTO in an address."""
_ASKS: Final = {
    BreakerOverride.AUTO: (
        "Let calls decide",
        "The outcomes of calls open and close the breaker again.",
        "is decided by its calls again",
    ),
    BreakerOverride.CLOSED: (
        "Ignore failures",
        "Failed calls spend attempts, so deliveries can become dead letters.",
        "is working, and failures are ignored",
    ),
}
"""Override -> label of the button, consequence, and text after the change."""


@dataclass(frozen=True, slots=True, kw_only=True)
class BreakerLine:
    """A breaker in the table."""

    provider: str
    channel: Channel
    standing: BreakerStatus
    switch: Switch | None = None
    """The switch that holds the provider on the channel."""

    @property
    def state(self) -> str:
        """Return the state in a few words."""
        if self.switch:
            return "paused by an operator"
        if self.standing.forced:
            return "working, ignores failures"
        if self.standing.is_rejecting:
            return "paused: rejects messages"
        return "paused" if self.standing.is_open else "working"

    @property
    def name(self) -> str:
        """Return channel and provider: `email by ses`."""
        return f"{self.channel.label} by {self.provider}"

    @property
    def url(self) -> str:
        """Return the page with plots; empty without the feature that shows the page."""
        return subject_page("provider", self.provider, self.channel)

    @property
    def hold_url(self) -> str:
        """Return the address of the page that holds the provider on the channel."""
        return hold_link(provider=self.provider, channel=self.channel)

    @property
    def override(self) -> tuple[str, str]:
        """Return address and label of the possible change of the override."""
        to = BreakerOverride.AUTO if self.standing.forced else BreakerOverride.CLOSED
        names = [self.provider, self.channel.label, to.value or _AUTO]
        return reverse("admin:notifications_breaker_override", args=names), _ASKS[to][0]


@admin.register(Breaker)
class BreakerAdmin(base.ReadOnlyAdmin):
    """A single page with table, links and latest events, and a page that asks about an override."""

    def get_urls(self) -> list[URLPattern]:
        """Add the page that asks about an override."""
        ours = path(
            "<str:provider>/<str:channel>/<str:forced>/",
            self.admin_site.admin_view(self.ask_override),
            name="notifications_breaker_override",
        )
        theirs: list[URLPattern] = super().get_urls()
        return [ours, *theirs]

    def changelist_view(  # type: ignore[override]  # unfold names its own kind of answer
        self,
        request: HttpRequest,
        extra_context: dict[str, Any] | None = None,  # noqa: ARG002 - Django's signature
    ) -> HttpResponse:
        """Show the page.

        Raises:
            PermissionDenied: the operator may not view breakers.
        """
        if not self.has_view_permission(request):
            raise PermissionDenied
        found = breaker_status.of_pairs(_pairs())
        held = switches.switches_by_pair(_pairs())
        context = {
            "lines": [
                BreakerLine(
                    provider=pair[0], channel=pair[1], standing=standing, switch=held.get(pair)
                )
                for pair, standing in found.items()
            ],
            "endpoints": list(_endpoint_pauses()),
            "events": BreakerEvent.objects.exclude(kind=BreakerEvent.Kind.PROBED)[:_LATEST],
            "may_force": request.user.has_perm("notifications.change_breaker"),
            "may_hold": may_set(request, kind=SwitchKind.PROVIDER),
            "may_resume": may_resume(request, kind=SwitchKind.PROVIDER),
        }
        return base.page(self, request, "admin/breakers.html", title="Breakers", context=context)

    def ask_override(
        self, request: HttpRequest, provider: str, channel: str, forced: str
    ) -> HttpResponse:
        """Ask for confirmation, then set or remove an override.

        Raises:
            PermissionDenied: the operator may not change breakers.
        """
        if not request.user.has_perm("notifications.change_breaker"):
            raise PermissionDenied
        pair, override = _read(provider, channel, forced)
        verb, consequence, done = _ASKS[override]
        name = f"{pair[1].label} by {pair[0]}"
        back = reverse("admin:notifications_breaker_changelist")
        if request.method == "POST":
            row = Breaker.objects.filter(provider=pair[0], channel=pair[1])
            with audit.changes(name_of(request), "force_breaker", row):
                circuit_breakers.force(pair, override, by=name_of(request))
            text = f"{name} {done}. All processes know within two seconds."
            self.message_user(request, text, messages.SUCCESS)
            return HttpResponseRedirect(back)
        context = {"verb": verb, "consequence": consequence, "back": back}
        title = f"{name}: {verb.lower()}?"
        return base.page(self, request, "admin/ask.html", title=title, context=context)


def _endpoint_pauses() -> Iterator[tuple[Pair, OpenEndpoints]]:
    """Yield the open endpoints of providers with breakers per endpoint."""
    for pair in _pairs():
        if routing.providers_by_name()[pair[0]].capabilities.endpoint_of is not None:
            paused = breaker_status.endpoints(pair, limit=_ENDPOINTS)
            if paused.count:
                yield pair, paused


def _pairs() -> list[Pair]:
    return sorted(
        (name, channel)
        for name, provider in routing.providers_by_name().items()
        for channel in provider.capabilities.channels
    )


def _read(provider: str, channel: str, forced: str) -> tuple[Pair, BreakerOverride]:
    try:
        pair = provider, Channel.from_label(channel)
        override = BreakerOverride("" if forced == _AUTO else forced)
    except (KeyError, ValueError) as error:
        raise BadRequest(str(error)) from error
    if pair not in _pairs():
        raise BadRequest(f"{provider} is not configured for {channel}")
    return pair, override


@admin.register(BreakerEvent)
class BreakerEventAdmin(base.ReadOnlyAdmin):
    """Read-only list of breaker events."""

    list_display = ("at", "provider", "channel", "kind", "detail")
    list_filter = ("kind", "provider", "channel")
    sortable_by = ()


def _provider_names() -> list[tuple[str, str]]:
    return [(name, name) for name in sorted(routing.providers_by_name())]


class ProviderPaceForm(forms.ModelForm[ProviderPace]):
    """Offers configured providers only, because an unknown name would have no effect."""

    provider = forms.ChoiceField(choices=_provider_names, widget=UnfoldAdminSelectWidget)


@admin.register(ProviderPace)
class ProviderPaceAdmin(AuditedAdmin):
    """Editable list. Deleting a row restores the adapter's default."""

    form = ProviderPaceForm
    list_display = ("provider", "burst", "per_second")
