"""Thresholds of alerts that operators may change: NOTIFY_ALERT_THRESHOLDS.

    delivery_rate_low=99,processing_slow=800

The name of a threshold is the kind of the alert. A threshold without a value has the default.

An alert about a provider or a channel starts above a threshold and ends below a lower threshold, so
a share near the threshold raises one alert. A floor of calls or failures keeps single failures of
little traffic silent: with five messages a minute, `FAILING_CALLS` are reached within five minutes.
"""

from __future__ import annotations

from typing import Final, NamedTuple, Self

from notifications.core.rules.service_levels import EventShare

_MOST: Final = {"processing_slow": 60_000.0}
"""Largest value of a threshold; of a percentage 100."""

_FAILING_CALLS: Final = 20
"""Calls in the window below which a share of failed calls is ignored."""
_FAILING_UNTIL: Final = 0.8
"""Part of the threshold up to which a provider is well again: 40 % of 50 %."""

_LOW_FAILURES: Final = 5
"""Bad deliveries below which the delivery rate of a channel is ignored."""
_LOW_UNTIL: Final = 0.6
"""Part of the tolerated share of bad deliveries up to which a channel is well again: 0.3 % of
0.5 %."""


class AlertThresholds(NamedTuple):
    """The thresholds: percentages, and milliseconds for `processing_slow`."""

    provider_failing: float = 50.0
    """Failed calls of a provider above which the provider is failing."""
    delivery_rate_low: float = 99.5
    """Sent deliveries of a channel under which the delivery rate is low."""
    retry_success_low: float = 65.0
    """Sent deliveries among those with retries under which retries do not help."""
    permanent_failures_high: float = 5.0
    """Deliveries rejected for good above which there are too many."""
    unknown_grow: float = 1.0
    """Deliveries without an answer above which there are too many."""
    processing_slow: float = 500.0
    """Time from accept to the call of a P0 delivery that 95 % must keep."""

    @classmethod
    def parse(cls, text: str) -> Self:
        """Return the thresholds of a comma list of `name=value`.

        Raises:
            ValueError: an item that is malformed, unknown, repeated or out of range.
        """
        found: dict[str, float] = {}
        for item in filter(None, (each.strip() for each in text.split(","))):
            name, _, value = (part.strip() for part in item.partition("="))
            if name not in cls._fields:
                raise ValueError(f"has {item!r}; the names are {', '.join(cls._fields)}")
            if name in found:
                raise ValueError(f"has {name} twice")
            most = _MOST.get(name, 100.0)
            try:
                number = float(value)
            except ValueError:
                number = -1.0
            if not 0 < number <= most:
                raise ValueError(f"has {item!r}; give {name} a number above 0, at most {most:g}")
            found[name] = number
        return cls(**found)


class CallShare(NamedTuple):
    """The calls of a provider on a channel."""

    calls: int
    failed: int
    """Unavailable, unanswered and rejected calls."""

    @property
    def share(self) -> float:
        """The share of failed calls; 0 without calls."""
        return self.failed / self.calls if self.calls else 0.0


def is_failing(calls: CallShare, threshold: float, *, before: bool) -> bool:
    """Return True if a provider is failing.

    Args:
        calls: the calls of the provider.
        threshold: `AlertThresholds.provider_failing`.
        before: the provider was failing at the last look.
    """
    if calls.calls < _FAILING_CALLS:
        return False
    return calls.share > threshold / 100 * (_FAILING_UNTIL if before else 1)


def is_low(ended: EventShare, threshold: float, *, before: bool) -> bool:
    """Return True if a delivery rate is low.

    Args:
        ended: the ended deliveries of the channel.
        threshold: `AlertThresholds.delivery_rate_low`.
        before: the rate was low at the last look.
    """
    if ended.bad < _LOW_FAILURES:
        return False
    return ended.share > (1 - threshold / 100) * (_LOW_UNTIL if before else 1)
