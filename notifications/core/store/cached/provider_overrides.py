"""Settings of operators for providers: forced breakers, paces and routes."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from notifications.core.models import Breaker, ProviderPace, ProviderRoute
from notifications.core.rules.rate_limits.circuit_breaker import BreakerOverride
from notifications.core.rules.routing import RoutingRule
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


@Fresh
def routes() -> Mapping[Channel, Sequence[RoutingRule]]:
    """Return the enabled routes by channel; a channel without a route is missing."""
    rules: dict[Channel, list[RoutingRule]] = defaultdict(list)
    for row in ProviderRoute.objects.filter(is_enabled=True):
        channel = Channel(row.channel)
        rule = RoutingRule(
            channel=channel,
            provider=row.provider,
            region=row.region,
            platform=row.platform,
            rank=row.rank,
            weight=row.weight,
        )
        rules[channel].append(rule)
    return dict(rules)


forget_routes = routes.forget


forget = current.forget
