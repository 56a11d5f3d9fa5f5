"""Settings of operators for providers: forced breakers and paces."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from notifications.core.models import Breaker, ProviderPace
from notifications.core.rules.rate_limits.circuit_breaker import BreakerOverride
from notifications.core.store.cached.ttl_cache import Fresh
from providers.contract import Channel, Pace

Pair = tuple[str, Channel]
"""Provider and channel, which have a breaker."""


@dataclass(frozen=True, slots=True, kw_only=True)
class ProviderOverrides:
    """Operators' overrides of provider settings."""

    forced: Mapping[Pair, BreakerOverride]
    paces: Mapping[str, Pace]


@Fresh
def current() -> ProviderOverrides:
    """Read the settings in force."""
    return ProviderOverrides(
        forced={
            (row.provider, Channel(row.channel)): BreakerOverride.CLOSED
            for row in Breaker.objects.filter(forced=BreakerOverride.CLOSED)
        },
        paces={
            row.provider: Pace(burst=row.burst, per_second=row.per_second)
            for row in ProviderPace.objects.all()
        },
    )


forget = current.forget
