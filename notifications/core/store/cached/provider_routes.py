"""The router's rows as rules."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Mapping, Sequence

from notifications.core.models import ProviderRoute
from notifications.core.rules.routing import RoutingRule
from notifications.core.store.cached.ttl_cache import Fresh
from providers.contract import Channel


@Fresh
def current() -> Mapping[Channel, Sequence[RoutingRule]]:
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


forget = current.forget
