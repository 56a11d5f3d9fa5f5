"""Alerts about failing providers and channels, by the calls and deliveries of five minutes.

An alert starts above a threshold (`alert_thresholds`) and ends below a lower one, so that a share
near a threshold raises one alert. A floor of calls or failures keeps single failures of little
traffic silent: with five messages a minute, `FAILING_CALLS` are reached within five minutes.
"""

from __future__ import annotations

from typing import Final, NamedTuple

from notifications.core.rules.service_levels import EventShare

FAILING_CALLS: Final = 20
"""Calls in the window below which a share of failed calls is ignored."""
_FAILING_UNTIL: Final = 0.8
"""Part of the threshold up to which a provider is well again: 40 % of 50 %."""

LOW_FAILURES: Final = 5
"""Bad deliveries below which the delivery rate of a channel is ignored."""
_LOW_UNTIL: Final = 0.6
"""Part of the tolerated share of bad deliveries up to which a channel is well again: 0.3 % of
0.5 %."""


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
    if calls.calls < FAILING_CALLS:
        return False
    return calls.share > threshold / 100 * (_FAILING_UNTIL if before else 1)


def is_low(ended: EventShare, threshold: float, *, before: bool) -> bool:
    """Return True if a delivery rate is low.

    Args:
        ended: the ended deliveries of the channel.
        threshold: `AlertThresholds.delivery_rate_low`.
        before: the rate was low at the last look.
    """
    if ended.bad < LOW_FAILURES:
        return False
    return ended.share > (1 - threshold / 100) * (_LOW_UNTIL if before else 1)
