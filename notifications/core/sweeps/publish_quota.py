"""Publish quota: the number of rows of a lane that the relay may publish now.

    the broker    at most NOTIFY_BROKER_MESSAGES wait in a lane; further rows wait in Postgres
    the breaker   P2 and P3 whose providers' breakers are all open: one row when a probe is due
                  (rows of a lane behind a switch make no probe: workers hold them)
    the pause     a paused lane: one row while the broker has no message of the lane
    the rate      P2 and P3: the rate of their providers, reduced while a provider throttles

A large backlog therefore waits in Postgres, instead of being claimed and held by workers again and
again. P0 and P1 have no quota by breaker or rate, because accept publishes them at once.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Final, cast

from notifications.core import clock, conf, lanes
from notifications.core.delivery import routing
from notifications.core.rules.lane import Lane, Mode
from notifications.core.rules.rate_limits import token_bucket
from notifications.core.rules.rate_limits.circuit_breaker import HealthKey
from notifications.core.store.cached import paused_lanes, provider_overrides, switches
from notifications.core.store.rate_limits import breaker_status, circuit_breakers
from notifications.core.store.rate_limits.breaker_status import BreakerStatus
from notifications.core.store.redis import state
from providers.contract import Channel, Provider


def quotas(depths: Mapping[Lane, int]) -> dict[Lane, int]:
    """Return the quota of rows by lane, from the number of messages in the broker.

    A lane without quota is left out.
    """
    providers = {lane: routing.live_providers(lane.channel) for lane in depths if _has_quota(lane)}
    found = breaker_status.of_pairs({
        (each.name, lane.channel) for lane, taking in providers.items() for each in taking
    })
    result = {}
    held, now = switches.current(), clock.now()
    for lane, depth in depths.items():
        rows = lanes.URGENT_CHUNK if lane.priority.is_urgent else lanes.CHUNK
        quota = (conf.current().broker_messages - depth) * rows
        if taking := providers.get(lane):
            if not held.holds_lane(lane, now=now):
                quota = min(quota, _for_breakers(lane, depth, taking, found))
            quota = min(quota, _charge(lane, taking))
        if lane.name in paused_lanes.current():
            quota = min(quota, int(not depth))
        if quota > 0:
            result[lane] = quota
    return result


def charge_published(lane: Lane, count: int) -> None:
    """Charge published rows to the lane's providers, at their rates."""
    if _has_quota(lane) and (taking := routing.live_providers(lane.channel)):
        _charge(lane, taking, charge=count)


def _has_quota(lane: Lane) -> bool:
    return lane.mode is Mode.LIVE and not lane.priority.is_urgent


def _for_breakers(
    lane: Lane,
    depth: int,
    providers: Iterable[Provider],
    found: Mapping[tuple[str, Channel], BreakerStatus],
) -> int:
    states = [found[each.name, lane.channel] for each in providers]
    if not all(each.is_open for each in states):
        return _NO_LIMIT
    return int(any(not each.wait for each in states) and not depth)


_NO_LIMIT: Final = 1_000_000_000
_SECOND_US: Final = 1_000_000


def _charge(lane: Lane, providers: Iterable[Provider], *, charge: int = 0) -> int:
    """Charge rows to a lane's providers; returns the number of rows that may be published now.

    The counters are in the state Redis, so that all relays share a rate, and a throttling provider
    gets its reduced rate. While the state Redis is away, only the providers' rate limits apply, in
    the workers.
    """
    keys: list[str] = []
    arguments: list[str | int | float | bytes] = [
        token_bucket.PATIENT_SHARE,
        token_bucket.RECOVERS_IN // circuit_breakers.MILLISECOND,
        charge,
    ]
    set_by_operators = provider_overrides.current().paces
    for each in providers:
        if each.capabilities.endpoint_of:
            return _NO_LIMIT  # a rate for each endpoint does not limit the provider
        pace = set_by_operators.get(each.name, each.capabilities.pace)
        keys += [
            f"relay_pace:{each.name}",
            circuit_breakers.pace_key(HealthKey(each.name, lane.channel)),
        ]
        cost = _SECOND_US / (pace.per_second * token_bucket.PATIENT_SHARE) if pace else 0
        arguments += [cost, pace.burst if pace else 0]
    try:
        free = cast("int | None", state.call("relay_pace", keys, arguments))
    except state.Away:
        return _NO_LIMIT
    return _NO_LIMIT if free is None else free
