"""Circuit breakers: current state with reason, overrides by operators, latest events.

The page shows the current state in the state Redis for every configured provider and channel. An
operator's override lasts until removal.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any, Final

from django.contrib import admin, messages
from django.core.exceptions import BadRequest, PermissionDenied
from django.http import HttpRequest, HttpResponse, HttpResponseRedirect
from django.urls import reverse

from notifications.admin import base
from notifications.admin.audited import name_of
from notifications.delivery import routing
from notifications.models import Breaker, BreakerEvent
from notifications.rules.rate_limits.circuit_breaker import BreakerOverride
from notifications.store.cached.provider_overrides import Pair
from notifications.store.postgres import audit
from notifications.store.rate_limits import breaker_status, circuit_breakers
from notifications.store.rate_limits.breaker_status import BreakerStatus, OpenEndpoints
from providers.contract import Channel

_ENDPOINTS: Final = 20
"""Open endpoints shown per provider, in addition to the number of open endpoints."""
_LATEST: Final = 20
"""Events below the table; the list of events has all events."""

_VERBS: Final = {
    BreakerOverride.AUTO: "Let calls decide",
    BreakerOverride.OPEN: "Force open",
    BreakerOverride.CLOSED: "Force closed",
}


@dataclass(frozen=True, slots=True, kw_only=True)
class BreakerLine:
    """A breaker in the table."""

    provider: str
    channel: Channel
    standing: BreakerStatus

    @property
    def state(self) -> str:
        """Return the state in a few words."""
        word = "open" if self.standing.is_open else "closed"
        if self.standing.is_rejecting and not self.standing.forced:
            return "open: rejecting"
        return f"forced {word}" if self.standing.forced else word

    @property
    def verbs(self) -> list[tuple[str, str]]:
        """Return the available overrides: value and label of the button."""
        return [
            (forced.value, verb)
            for forced, verb in _VERBS.items()
            if forced is not self.standing.forced
        ]


@admin.register(Breaker)
class BreakerAdmin(base.ReadOnlyAdmin):
    """A single page: table, buttons and latest events."""

    def changelist_view(  # type: ignore[override]  # unfold names its own kind of answer
        self,
        request: HttpRequest,
        extra_context: dict[str, Any] | None = None,  # noqa: ARG002 - Django's signature
    ) -> HttpResponse:
        """Show the page; on POST apply an override.

        Raises:
            PermissionDenied: the operator may not view breakers, or may not change breakers.
        """
        may_force = request.user.has_perm("notifications.change_breaker")
        if request.method == "POST":
            if not may_force:
                raise PermissionDenied
            return self._force(request)
        if not self.has_view_permission(request):
            raise PermissionDenied
        found = breaker_status.of_pairs(_pairs())
        context = {
            "lines": [
                BreakerLine(provider=provider, channel=channel, standing=standing)
                for (provider, channel), standing in found.items()
            ],
            "endpoints": list(_resting_endpoints()),
            "events": BreakerEvent.objects.all()[:_LATEST],
            "may_force": may_force,
        }
        return base.page(self, request, "admin/breakers.html", title="Breakers", context=context)

    def _force(self, request: HttpRequest) -> HttpResponse:
        pair, forced = _read(request)
        row = Breaker.objects.filter(provider=pair[0], channel=pair[1])
        with audit.changes(name_of(request), "force_breaker", row):
            circuit_breakers.force(pair, forced, by=name_of(request))
        said = {
            BreakerOverride.AUTO: "is decided by its calls again",
            BreakerOverride.OPEN: "is forced open: its deliveries are held",
            BreakerOverride.CLOSED: "is forced closed: everything is sent",
        }[forced]
        text = f"{pair[0]} {pair[1].label} {said}. All processes know within two seconds."
        self.message_user(request, text, messages.SUCCESS)
        return HttpResponseRedirect(reverse("admin:notifications_breaker_changelist"))


def _resting_endpoints() -> Iterator[tuple[Pair, OpenEndpoints]]:
    """Yield the open endpoints of providers with breakers per endpoint."""
    for pair in _pairs():
        if routing.providers_by_name()[pair[0]].capabilities.endpoint_of is not None:
            resting = breaker_status.endpoints(pair, limit=_ENDPOINTS)
            if resting.count:
                yield pair, resting


def _pairs() -> list[Pair]:
    return sorted(
        (name, channel)
        for name, provider in routing.providers_by_name().items()
        for channel in provider.capabilities.channels
    )


def _read(request: HttpRequest) -> tuple[Pair, BreakerOverride]:
    try:
        pair = request.POST["provider"], Channel.from_label(request.POST["channel"])
        forced = BreakerOverride(request.POST["forced"])
    except (KeyError, ValueError) as error:
        raise BadRequest(str(error)) from error
    if pair not in _pairs():
        raise BadRequest(f"{pair[0]} is not configured for {pair[1].label}")
    return pair, forced


@admin.register(BreakerEvent)
class BreakerEventAdmin(base.ReadOnlyAdmin):
    """Read-only list of breaker events."""

    list_display = ("at", "provider", "channel", "kind", "detail")
    list_filter = ("kind", "provider", "channel")
    sortable_by = ()
