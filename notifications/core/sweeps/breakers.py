"""Breakers: alerts of breakers and of endpoint breakers, and the deletion of old events.

A breaker raises its alert at the trip, unless Postgres is away or the process is killed before; a
run raises the alert then. A breaker closed by a probe resolves its alert at once. A breaker lost
with Redis, or not probed for an hour, closes without resolving its alert. A run also resolves the
alert of a dead beat.
"""

from __future__ import annotations

import datetime as dt
from typing import Final

import structlog

from notifications.core.delivery import routing
from notifications.core.models import Alert, BreakerEvent
from notifications.core.rules.alerts import BEAT, AlertKind
from notifications.core.rules.rate_limits.circuit_breaker import HealthKey
from notifications.core.store.postgres import alerts
from notifications.core.store.rate_limits import breaker_status
from notifications.core.sweeps.rounds import Swept
from providers.contract import Channel

_log = structlog.get_logger(__name__)

_EVENTS_KEPT: Final = 10_000
"""Some weeks of events of a failing provider: a probe each half minute makes 3,000 events a day."""


def run_once(*, now: dt.datetime, limit: int) -> Swept:
    """Raise and resolve alerts, and delete up to `limit` old events. Safe at any time."""
    alerts.resolve(AlertKind.BEAT_DEAD, BEAT)
    _alert_on_open()
    _alert_on_endpoints()
    newest = BreakerEvent.objects.values_list("id", flat=True).first() or 0
    past = BreakerEvent.objects.filter(id__lte=newest - _EVENTS_KEPT).values("id")[:limit]
    trimmed, _ = BreakerEvent.objects.filter(id__in=past).delete()
    resolved = _resolve_closed() + alerts.resolve_gone(now=now, paused=_alert_subjects())
    return Swept(resolved + trimmed)


def _alert_subjects() -> set[str]:
    """Return the subjects of alerts about open breakers."""
    seen = breaker_status.with_counts()
    pairs = [pair for pair, (_, status) in seen.items() if status.since or not status.is_known]
    return {HealthKey(*pair).label for pair in pairs}


def _alert_on_open() -> None:
    """Raise the missing alerts of open breakers."""
    told = alerts.open_subjects(AlertKind.BREAKER_OPEN)
    pairs = (
        (name, channel)
        for name, provider in routing.providers_by_name().items()
        for channel in provider.capabilities.channels
    )
    for pair, seen in breaker_status.of_pairs(pairs).items():
        subject = HealthKey(*pair).label
        if seen.is_open and subject not in told:
            alerts.raise_once(AlertKind.BREAKER_OPEN, subject, f"paused: {seen.why}")


def _resolve_closed() -> int:
    open_ones = Alert.objects.filter(kind=AlertKind.BREAKER_OPEN, resolved_at=None)
    subjects = open_ones.values_list("subject", flat=True)
    pairs = {subject: pair for subject in subjects if (pair := _pair(subject)) is not None}
    found = breaker_status.of_pairs(pairs.values())
    over = [
        subject
        for subject, pair in pairs.items()
        if found[pair].is_known and found[pair].since is None
    ]
    for subject in over:
        alerts.resolve(AlertKind.BREAKER_OPEN, subject)
    return len(over)


def _alert_on_endpoints() -> None:
    """Raise an alert for each provider with open endpoint breakers."""
    for name, provider in routing.providers_by_name().items():
        if provider.capabilities.endpoint_of is None:
            continue
        for channel in provider.capabilities.channels:
            subject = f"{name} {channel.label}"
            paused = breaker_status.endpoints((name, channel), limit=0)
            if not paused.is_known:
                continue
            if paused.count:
                detail = f"{paused.count} paused endpoints; deliveries to them wait"
                alerts.raise_once(AlertKind.ENDPOINTS_REST, subject, detail)
            else:
                alerts.resolve(AlertKind.ENDPOINTS_REST, subject)


def _pair(subject: str) -> tuple[str, Channel] | None:
    """Return provider and channel of a subject; None for a subject of another release."""
    provider, _, channel = subject.rpartition(" ")
    try:
        return provider, Channel.from_label(channel)
    except KeyError:
        _log.warning("alert_subject_unknown", subject=subject)
        return None
