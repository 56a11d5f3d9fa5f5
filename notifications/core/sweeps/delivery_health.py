"""Delivery health: alerts about failing providers and about channels with a low delivery rate.

    provider_failing     over half of a provider's calls in five minutes failed or were rejected
    delivery_rate_low    under 99.5 % of a channel's deliveries that ended in five minutes were sent

NOTIFY_ALERT_THRESHOLDS changes the two shares.

The calls are those of the circuit breakers' windows. The delivery rate counts the ends of
deliveries in the roll-ups, whenever the deliveries were accepted, so a small channel counts beside
a large one, and a delivery that waits for a retry does not count. While the roll-ups are late, the
alerts stay as they are. Safe at any time: a run reads, and raises or resolves alerts.
"""

from __future__ import annotations

import datetime as dt
from collections.abc import Iterator
from typing import Final

from notifications.core import conf
from notifications.core.delivery import routing
from notifications.core.models import Alert
from notifications.core.rules import alert_thresholds
from notifications.core.rules.alert_thresholds import CallShare
from notifications.core.rules.alerts import AlertKind
from notifications.core.rules.service_levels import ROLLUPS_LATE
from notifications.core.store.postgres import alerts, rollups
from notifications.core.store.postgres import service_levels as figures
from notifications.core.store.rate_limits import breaker_status
from notifications.core.sweeps.rounds import Swept
from providers import registry

_WINDOW: Final = dt.timedelta(minutes=5)


def run_once(*, now: dt.datetime, limit: int) -> Swept:
    """Raise and resolve the alerts; returns the number of open alerts."""
    del limit
    return Swept(_look_at_providers() + _look_at_channels(now))


def _look_at_providers() -> int:
    before = _open(AlertKind.PROVIDER_FAILING)
    threshold = conf.current().alert_thresholds.provider_failing
    failing = 0
    for subject, provider, calls in _calls():
        if alert_thresholds.is_failing(calls, threshold, before=subject in before):
            page = registry.STATUS_PAGES.get(provider, "")
            detail = f"{calls.share:.0%} of {calls.calls} calls in five minutes failed"
            detail += f"; status page: {page}" if page else ""
            alerts.raise_once(AlertKind.PROVIDER_FAILING, subject, detail)
            failing += 1
        elif subject in before:
            alerts.resolve(AlertKind.PROVIDER_FAILING, subject)
    return failing


def _calls() -> Iterator[tuple[str, str, CallShare]]:
    pairs = [
        (name, channel)
        for name, provider in routing.providers_by_name().items()
        for channel in provider.capabilities.channels
    ]
    for (name, channel), found in breaker_status.of_pairs(pairs).items():
        if not found.is_known:
            continue
        yield (
            f"{name} {channel.label}",
            name,
            CallShare(found.calls, found.failures + found.rejected),
        )


def _look_at_channels(now: dt.datetime) -> int:
    before = _open(AlertKind.DELIVERY_RATE_LOW)
    if rollups.lag(now=now) > ROLLUPS_LATE:
        return len(before)
    threshold = conf.current().alert_thresholds.delivery_rate_low
    low = 0
    for channel, ended in figures.by_channel(_WINDOW, now=now).items():
        if alert_thresholds.is_low(ended, threshold, before=channel.label in before):
            detail = f"{1 - ended.share:.1%} of {ended.good + ended.bad} deliveries were sent"
            alerts.raise_once(AlertKind.DELIVERY_RATE_LOW, channel.label, detail)
            low += 1
        elif channel.label in before:
            alerts.resolve(AlertKind.DELIVERY_RATE_LOW, channel.label)
    return low


def _open(kind: AlertKind) -> set[str]:
    return set(Alert.objects.filter(kind=kind, resolved_at=None).values_list("subject", flat=True))
