"""Standings: how breakers stand now, for admin, `/readyz`, `/metrics` and the relay.

Without traffic there is no probe, and `wait` is zero.
"""

from __future__ import annotations

import datetime as dt
from collections.abc import Iterable
from dataclasses import dataclass, field
from typing import Any, Final

import orjson

from notifications.core import clock
from notifications.core.models import Breaker
from notifications.core.rules.rate_limits.circuit_breaker import BreakerOverride, HealthKey
from notifications.core.store.cached import provider_overrides
from notifications.core.store.cached.provider_overrides import Pair
from notifications.core.store.rate_limits import circuit_breakers
from notifications.core.store.rate_limits.circuit_breakers import MILLISECOND
from notifications.core.store.redis import state
from providers.contract import Channel

_NOTHING: Final = dt.timedelta(0)


@dataclass(frozen=True, slots=True, kw_only=True)
class BreakerStatus:
    """The status of a breaker."""

    is_known: bool = True
    """False if the state Redis did not answer: the breaker counts as closed for a call, and the
    status ends no alert and no switch."""
    forced: BreakerOverride = BreakerOverride.AUTO
    since: dt.datetime | None = None
    """Time of the trip; None while the breaker is closed."""
    why: str = ""
    is_rejecting: bool = False
    """True if the breaker tripped because the provider rejected most calls."""
    wait: dt.timedelta = _NOTHING
    """Time until the next probe; zero if the next delivery is the probe, or no probe is needed."""
    overdue: dt.timedelta = _NOTHING
    """Time since the next probe is due, without a delivery that made the probe."""
    calls: int = 0
    """Calls of the last minutes; for an open breaker, calls before the trip."""
    failures: int = 0
    """Calls of these that found the provider down, got no answer, or were refused because of our
    account."""
    rejected: int = 0

    @property
    def is_open(self) -> bool:
        """Only probes are sent."""
        return self.since is not None and self.forced is not BreakerOverride.CLOSED


@dataclass(frozen=True, slots=True, kw_only=True)
class OpenEndpoints:
    """The endpoints of one provider with an open breaker."""

    count: int = 0
    is_known: bool = True
    """False if the state Redis did not answer."""
    shown: list[tuple[str, BreakerStatus]] = field(default_factory=list)
    """A selection of the endpoints, latest failures first."""


def of(keys: Iterable[HealthKey]) -> dict[HealthKey, BreakerStatus]:
    """Return the status of each breaker; without Redis every breaker is closed and not known."""
    wanted = list(keys)
    forced = provider_overrides.current().forced
    try:
        kept = state.get_many([circuit_breakers.key(each) for each in wanted])
    except state.Away:
        return {
            each: BreakerStatus(is_known=False, forced=forced.get(each.pair, BreakerOverride.AUTO))
            for each in wanted
        }
    return {
        each: _status(value, forced.get(each.pair, BreakerOverride.AUTO))
        for each, value in zip(wanted, kept, strict=True)
    }


def of_pairs(pairs: Iterable[Pair]) -> dict[Pair, BreakerStatus]:
    """Return the same for providers as a whole."""
    found = of(HealthKey(*pair) for pair in pairs)
    return {key.pair: standing for key, standing in found.items()}


def with_counts() -> dict[Pair, tuple[Breaker, BreakerStatus]]:
    """Return counts and status of all breakers that ever tripped or were forced."""
    rows = {(row.provider, Channel(row.channel)): row for row in Breaker.objects.all()}
    found = of_pairs(rows)
    return {pair: (row, found[pair]) for pair, row in rows.items()}


def endpoints(pair: Pair, *, limit: int) -> OpenEndpoints:
    """Count the open endpoints of a provider, and return up to `limit`; not known without Redis."""
    key, since = (
        circuit_breakers.open_endpoints_key(pair),
        (clock.now() - circuit_breakers.KEPT_OPEN).timestamp() * 1000,
    )
    try:
        with state.connection() as redis, redis.pipeline(transaction=False) as together:
            together.zcount(key, since, "+inf")
            together.zrange(key, "+inf", since, desc=True, byscore=True, offset=0, num=limit)
            count, names = together.execute()
    except state.Away:
        return OpenEndpoints(is_known=False)
    found = of(HealthKey(*pair, name.decode()) for name in names)
    return OpenEndpoints(
        count=count,
        shown=[(key.endpoint, standing) for key, standing in found.items() if standing.since],
    )


def _status(value: bytes | None, forced: BreakerOverride) -> BreakerStatus:
    kept: dict[str, Any] = orjson.loads(value) if value else {}
    window = kept.get("window") or []  # Lua writes an empty list as an empty object
    seen = [sum(each[at] for each in window) for at in (1, 2, 3, 4, 6)]
    counted = {
        "forced": forced,
        "calls": seen[0],
        "failures": seen[1] + seen[2] + seen[4],
        "rejected": seen[3],
    }
    if kept.get("open_since") is None:
        return BreakerStatus(**counted)
    now = int(clock.now().timestamp() * 1000)
    return BreakerStatus(
        since=clock.now() - (now - kept["open_since"]) * MILLISECOND,
        why=kept["why"],
        is_rejecting=kept.get("rejecting", False),
        wait=max(0, kept["probe_at"] - now) * MILLISECOND,
        overdue=max(0, now - kept["probe_at"]) * MILLISECOND,
        **counted,
    )
