"""The present state of the service, for the parts of Overview that do not depend on a time range.

Every query is bounded: counts stop at a limit, and the state Redis is read in one round trip for
each question. While the state Redis is away, calls in flight and the last receipts are missing, and
the figures say so.
"""

from __future__ import annotations

import datetime as dt
from dataclasses import dataclass

from notifications.core import clock
from notifications.core.admin import alerts
from notifications.core.admin.monitoring.links import subject_page
from notifications.core.delivery import routing
from notifications.core.figures.questions import Question, ask
from notifications.core.models import Alert, Notification, Switch
from notifications.core.operations import switches
from notifications.core.operations.switches import switches_by_pair
from notifications.core.rules import alert_links
from notifications.core.rules.rollups import Dimension
from notifications.core.store.cached.provider_overrides import Pair
from notifications.core.store.postgres import backlog, lane_lag, lane_work
from notifications.core.store.postgres.lane_lag import Lag
from notifications.core.store.postgres.lane_work import Waiting
from notifications.core.store.rate_limits import breaker_status
from notifications.core.store.rate_limits.breaker_status import BreakerStatus
from notifications.core.store.redis import last_receipts, metric_counters, state
from notifications.core.store.redis.metric_counters import InFlight
from providers.contract import Channel


@dataclass(frozen=True, slots=True, kw_only=True)
class ProviderHealth:
    """A provider on a channel now."""

    provider: str
    channel: Channel
    standing: BreakerStatus
    is_held: bool
    """An operator's switch holds the provider on the channel."""
    is_routed: bool
    """Live messages of the channel may use the provider now."""
    calls: InFlight | None
    """Calls in flight over all channels; None while the state Redis is away."""
    gives_receipts: bool
    last_receipt_at: dt.datetime | None
    p95_seconds: float | None = None
    """Of a hundred calls of the last minutes 95 were answered within this time."""
    switch: Switch | None = None
    """The switch that holds the provider on the channel."""

    @property
    def state(self) -> str:
        """The state in a few words."""
        if self.switch:
            return "paused by an operator"
        if self.is_held:
            return "paused by an operator"
        if self.standing.forced:
            return "working, ignores failures"
        return "paused" if self.standing.is_open else "working"

    @property
    def error_share(self) -> float | None:
        """Share of failed and rejected calls of the last minutes; None without calls."""
        if not self.standing.calls:
            return None
        return (self.standing.failures + self.standing.rejected) / self.standing.calls

    @property
    def is_bad(self) -> bool:
        """The provider takes no calls, or over half of its calls fail."""
        return self.is_held or self.standing.is_open or (self.error_share or 0) > _BAD_SHARE

    @property
    def url(self) -> str:
        """The page of the provider and channel; empty without the feature that shows the page."""
        return subject_page("provider", self.provider, self.channel)


_BAD_SHARE = 0.5
_ANSWERS = dt.timedelta(minutes=5)


@dataclass(frozen=True, slots=True, kw_only=True)
class OpenAlert:
    """An open alert with the pages that help."""

    alert: Alert
    url: str
    """The page of the alert."""
    severity: str

    @property
    def cause_url(self) -> str:
        """The page that shows the cause; empty for an alert of another release."""
        return alert_links.page_of(self.alert.kind, self.alert.subject)

    @property
    def runbook(self) -> str:
        """The chapter of the runbook."""
        return alert_links.runbook_of(self.alert.kind)


@dataclass(frozen=True, slots=True, kw_only=True)
class Now:
    """The answers to all questions about the present."""

    alerts: list[OpenAlert]
    providers: list[ProviderHealth]
    lanes: list[Lag]
    waits: list[Waiting]
    switches: list[Switch]
    """The active switches of operators, newest first."""
    letters: dict[str, int]
    """Open dead letters of live mode by reason."""
    has_notifications: bool

    @property
    def letters_total(self) -> int:
        """Open dead letters of live mode."""
        return sum(self.letters.values())

    @property
    def faults(self) -> list[Waiting]:
        """The waits that a failure causes."""
        return [each for each in self.waits if each.is_fault]

    @property
    def failing_providers(self) -> list[ProviderHealth]:
        """The providers with live traffic that are paused or fail."""
        return [each for each in self.providers if each.is_bad and each.is_routed]

    @property
    def is_well(self) -> bool:
        """No alert is open, no provider fails, and no delivery waits because of a failure."""
        return not (self.alerts or self.failing_providers or self.faults)


_SWITCHES = 20


def read() -> Now:
    """Answer all questions."""
    return Now(
        alerts=[OpenAlert(**row) for row in alerts.overview()],
        providers=providers(),
        lanes=[each for each in lane_lag.newest(now=clock.now()) if each.is_shown],
        waits=lane_work.waiting_by_reason(),
        switches=list(switches.active().order_by("-pk")[:_SWITCHES]),
        letters=dict(sorted(backlog.dead_letters().items(), key=lambda pair: -pair[1])),
        has_notifications=Notification.objects.exists(),
    )


def providers() -> list[ProviderHealth]:
    """Return providers by channel: failing providers, then those with a route, then others."""
    pairs: list[Pair] = [
        (name, channel)
        for name, provider in routing.providers_by_name().items()
        for channel in provider.capabilities.channels
    ]
    routed = {
        (provider.name, channel)
        for channel in Channel
        for provider in routing.live_providers(channel)
    }
    received = last_receipts.load()
    held = switches.switches_by_pair(pairs)
    answered = _answer_times()
    try:
        in_flight: dict[str, InFlight] | None = metric_counters.in_flight()
    except state.Away:
        in_flight = None
    held = switches_by_pair(pairs)
    found = [
        ProviderHealth(
            provider=name,
            channel=channel,
            standing=standing,
            is_held=(name, channel) in held,
            is_routed=(name, channel) in routed,
            calls=None if in_flight is None else in_flight.get(name, InFlight()),
            gives_receipts=routing.providers_by_name()[name].capabilities.gives_receipts,
            last_receipt_at=received.get(name),
            p95_seconds=answered.get((name, channel)),
            switch=held.get((name, channel)),
        )
        for (name, channel), standing in breaker_status.of_pairs(pairs).items()
    ]
    return sorted(
        found, key=lambda each: (not each.is_bad, not each.is_routed, each.channel, each.provider)
    )


def _answer_times() -> dict[Pair, float]:
    """Return the p95 of the calls of the last minutes in seconds."""
    now = clock.now()
    question = Question(
        metric="call_to_answer_p95",
        start=now - _ANSWERS,
        end=now,
        by=(Dimension.PROVIDER, Dimension.CHANNEL),
        now=now,
    )
    return {
        (str(each.key[0]), Channel(int(each.key[1]))): each.total / 1000
        for each in ask(question).groups
        if each.total is not None
    }
