"""Publish quota: the number of rows of a lane that the relay may publish now.

    the broker    at most NOTIFY_BROKER_MESSAGES wait in a lane, and of P2 and P3 a second of
                  work (`BrokerShares`); further rows wait in Postgres
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

LEAST_SHARE: Final = 500
FIRST_SHARE: Final = 1_500
"""Share of a lane without experience, in rows."""
MESSAGES_OF_SHARE: Final = 8
"""Messages of a share, within the limits of a message's size."""
SMALLEST_MESSAGE: Final = 250
"""Rows of a message, if there are as many; `lanes.CHUNK` is the most."""


class BrokerShares:
    """The shares of the lanes.

    A row in the broker is behind all earlier rows, so a long queue in the broker would delay a
    producer with few rows as much as the producer with many: the fair order is that of the publish.
    The share therefore follows the speed of the lane: about a second of work, for a relay that runs
    each second.

        the lane ran empty although rows were left over       half as much again
        one message was left, and rows were left over         an eighth more
        over a third of the share is still in the broker      an eighth less

    A worker holds several messages of a lane, and these are ahead of a new row too. A message
    therefore has an eighth of the share, but no fewer than 250 rows: smaller messages cost twice
    the work for each row. While rows are left over, every message is full.

    The share is of the process: each `ops` process learns its own.
    """

    def __init__(self) -> None:
        """Begin without experience."""
        self._shares: dict[Lane, int] = {}
        self._left_over: set[Lane] = set()

    def free(self, lane: Lane, *, depth: int, most: int) -> int:
        """Return the rows that the broker has room for, and learn from the depth.

        Args:
            lane: a lane of P2 or P3.
            depth: the messages in the broker now.
            most: the most messages of a lane in the broker.
        """
        share, waiting = self._shares.get(lane, FIRST_SHARE), depth * self.message_size(lane)
        if depth <= 1 and lane in self._left_over:
            share += share // 8 if depth else share // 2
        elif waiting > share // 3:
            share -= share // 8
        self._shares[lane] = min(max(share, LEAST_SHARE), most * lanes.CHUNK)
        size = self.message_size(lane)
        return max(0, min((self._shares[lane] - waiting) // size, most - depth)) * size

    def message_size(self, lane: Lane) -> int:
        """Return the most rows of a message."""
        return min(
            max(self._shares.get(lane, FIRST_SHARE) // MESSAGES_OF_SHARE, SMALLEST_MESSAGE),
            lanes.CHUNK,
        )

    def note_published(self, lane: Lane, *, left_over: bool) -> None:
        """Note whether rows were left over after a publish."""
        if left_over:
            self._left_over.add(lane)
        else:
            self._left_over.discard(lane)


shares: Final = BrokerShares()
"""The shares of this process."""


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
        most = conf.current().broker_messages
        if lane.priority.is_urgent:
            quota = (most - depth) * lanes.URGENT_CHUNK
        else:
            quota = shares.free(lane, depth=depth, most=most)
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
