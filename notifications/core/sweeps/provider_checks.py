"""Provider checks: ask a paused provider without traffic whether it takes calls again.

A circuit breaker closes by the answer to a probe, and a probe is a delivery. Without deliveries the
breaker and its alert would stay open long after the repair. The check of the adapter
(`providers.contract.Provider.check`) sends no message; good findings close the breaker as an
answered probe does, and other findings keep it open.

A breaker that doubts refusals (`is_rejecting`) closes only by an accepted message. A provider
without findings has no check, and a provider that refuses our account needs more than an answer of
its server (`reachability`). These breakers wait for the next message, as their alert says.

Safe to run twice: one process checks a provider within an interval. Late or never: the next
delivery is the probe.
"""

from __future__ import annotations

import datetime as dt
from collections.abc import Sequence
from typing import Final

import structlog

from notifications.core import conf
from notifications.core.delivery import routing
from notifications.core.models import BreakerEvent
from notifications.core.rules.alerts import AlertKind
from notifications.core.rules.rate_limits.circuit_breaker import (
    BreakerOverride,
    CallStats,
    HealthKey,
    Probe,
)
from notifications.core.store.cached.provider_overrides import Pair
from notifications.core.store.postgres import alerts
from notifications.core.store.rate_limits import breaker_status, circuit_breakers
from notifications.core.store.rate_limits.breaker_status import BreakerStatus
from notifications.core.store.redis import state
from notifications.core.sweeps.rounds import Swept
from providers.contract import Finding

_log = structlog.get_logger(__name__)

DEADLINE: Final = dt.timedelta(seconds=5)
_QUIET: Final = dt.timedelta(seconds=60)
"""Time without a probe after which a check is made: two intervals of probes."""
_SHORTEST: Final = dt.timedelta(seconds=30)
_LONGEST: Final = dt.timedelta(minutes=5)
_REACHABILITY: Final = "reachability"
_BACK_OFF: Final = 4
"""The interval of checks is this part of the time since the trip, within the two limits."""


def run_once(*, now: dt.datetime, limit: int) -> Swept:
    """Check up to `limit` paused providers; returns the number of closed breakers."""
    if conf.current().dry_run:
        return Swept()
    closed = checked = 0
    for pair, (_, status) in breaker_status.with_counts().items():
        if checked < limit and _is_due(pair, status, now):
            checked += 1
            closed += _check(pair, status)
    return Swept(closed)


def _is_due(pair: Pair, status: BreakerStatus, now: dt.datetime) -> bool:
    if status.since is None or status.forced is not BreakerOverride.AUTO:
        return False
    if pair[0] not in routing.providers_by_name():
        return False
    events = BreakerEvent.objects.filter(provider=pair[0], channel=pair[1], at__gt=now - _QUIET)
    return not events.exists() and _takes_turn(pair, now - status.since)


def _takes_turn(pair: Pair, age: dt.timedelta) -> bool:
    """Return True for one process within the interval."""
    interval = min(max(age / _BACK_OFF, _SHORTEST), _LONGEST)
    try:
        with state.connection() as redis:
            name = f"provider_check:{circuit_breakers.key(HealthKey(*pair))}"
            return bool(redis.set(name, 1, nx=True, px=interval))
    except state.Away:
        return False


def _check(pair: Pair, status: BreakerStatus) -> bool:
    """Check a provider; returns True if the breaker closed."""
    provider = routing.providers_by_name()[pair[0]]
    key = HealthKey(*pair)
    findings = [] if status.is_rejecting else list(provider.check(deadline=DEADLINE))
    if not _are_evidence(findings, key):
        detail = f"paused: {status.why}; the breaker waits for the next message"
        alerts.raise_once(AlertKind.BREAKER_OPEN, key.label, detail)
        return False
    is_good = all(finding.is_good for finding in findings)
    probe = Probe.ANSWERED if is_good else Probe.FAILED
    circuit_breakers.record_calls({key: CallStats(probe=probe)})
    _log.info("provider_check", provider=pair[0], channel=pair[1].label, is_good=is_good)
    return is_good


def _are_evidence(findings: Sequence[Finding], key: HealthKey) -> bool:
    """Return True if good findings would show the end of the cause."""
    if key.label in alerts.open_subjects(AlertKind.PROVIDER_MISCONFIGURED):
        return any(finding.subject != _REACHABILITY for finding in findings)
    return bool(findings)
