"""Delivery health: alerts about failing providers and about channels with a low delivery rate.

    provider_failing     over half of a provider's calls in five minutes failed or were rejected
    delivery_rate_low    under 99.5 % of a channel's deliveries accepted in five minutes were sent

The calls are those of the circuit breakers' windows. The delivery rate reads the deliveries that
were accepted five to ten minutes ago, so that retries of P0 and P1 have ended; open deliveries do
not count. Safe at any time: a run reads, and raises or resolves alerts.
"""

from __future__ import annotations

import datetime as dt
from collections.abc import Iterator
from typing import Final
from uuid import UUID

from notifications.delivery import routing
from notifications.models import Alert
from notifications.rules import delivery_health, ids
from notifications.rules.alerts import AlertKind
from notifications.rules.delivery_health import CallShare, DeliveryRate
from notifications.rules.lane import Mode
from notifications.rules.states import Status
from notifications.store.postgres import alerts, db
from notifications.store.rate_limits import breaker_status
from notifications.sweeps.rounds import Swept
from providers import status_pages
from providers.contract import Channel

_WINDOW: Final = dt.timedelta(minutes=5)
_MOST: Final = 20_000
"""Deliveries that one look reads at most: the newest of the window."""
_GOOD: Final = [Status.SENT, Status.UNCONFIRMED, Status.DELIVERED, Status.READ]
_BAD: Final = [Status.FAILED, Status.BOUNCED]


def run_once(*, now: dt.datetime, limit: int) -> Swept:
    """Raise and resolve the alerts; returns the number of open alerts."""
    del limit
    return Swept(_look_at_providers() + _look_at_channels(now))


def _look_at_providers() -> int:
    before = _open(AlertKind.PROVIDER_FAILING)
    failing = 0
    for subject, provider, calls in _calls():
        if delivery_health.is_failing(calls, before=subject in before):
            page = status_pages.PAGES.get(provider, "")
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
    rates = _rates(now)
    low = 0
    for channel in Channel:
        found = rates.get(channel, DeliveryRate(0, 0))
        if delivery_health.is_low(found, before=channel.label in before):
            detail = f"{found.rate:.1%} of {found.good + found.bad} deliveries were sent"
            alerts.raise_once(AlertKind.DELIVERY_RATE_LOW, channel.label, detail)
            low += 1
        elif channel.label in before:
            alerts.resolve(AlertKind.DELIVERY_RATE_LOW, channel.label)
    return low


def _rates(now: dt.datetime) -> dict[Channel, DeliveryRate]:
    span = {"floor": _id_at(now - 2 * _WINDOW), "ceiling": _id_at(now - _WINDOW)}
    parameters = {**span, "most": _MOST, "mode": Mode.LIVE, "good": _GOOD, "bad": _BAD}
    rows = db.rows("delivery_rates", parameters)
    return {Channel(row["channel"]): DeliveryRate(row["good"], row["bad"]) for row in rows}


def _id_at(instant: dt.datetime) -> UUID:
    return ids.notification_id(at_ms=int(instant.timestamp() * 1000), entropy=0)


def _open(kind: AlertKind) -> set[str]:
    return set(Alert.objects.filter(kind=kind, resolved_at=None).values_list("subject", flat=True))
