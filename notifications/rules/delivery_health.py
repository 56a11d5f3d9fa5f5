"""Alerts about failing providers and channels, by the calls and deliveries of five minutes.

An alert starts above one threshold and ends below a lower one, so that a share near a threshold
raises one alert. A floor of calls or failures keeps single failures of little traffic silent: with
five messages a minute, `FAILING_CALLS` are reached within five minutes.
"""

from __future__ import annotations

from typing import Final, NamedTuple

from notifications.rules.service_levels import EventShare

FAILING_CALLS: Final = 20
"""Calls in the window below which a share of failed calls is ignored."""
FAILING_FROM: Final = 0.5
"""Share of failed and rejected calls above which a provider is failing."""
FAILING_UNTIL: Final = 0.4
"""Share at or below which the provider is well again."""

LOW_FAILURES: Final = 5
"""Bad deliveries below which the delivery rate of a channel is ignored."""
LOW_UNDER: Final = 0.995
"""Delivery rate under which the rate of a channel is low."""
LOW_UNTIL: Final = 0.997
"""Delivery rate from which the channel is well again."""


class CallShare(NamedTuple):
    """The calls of a provider on a channel."""

    calls: int
    failed: int
    """Unavailable, unanswered and rejected calls."""

    @property
    def share(self) -> float:
        """The share of failed calls; 0 without calls."""
        return self.failed / self.calls if self.calls else 0.0


def is_failing(calls: CallShare, *, before: bool) -> bool:
    """Return True if a provider is failing; `before`: it was failing at the last look."""
    if calls.calls < FAILING_CALLS:
        return False
    return calls.share > (FAILING_UNTIL if before else FAILING_FROM)


def is_low(ended: EventShare, *, before: bool) -> bool:
    """Return True if a delivery rate is low; `before`: it was low at the last look."""
    if ended.bad < LOW_FAILURES:
        return False
    return 1 - ended.share < (LOW_UNTIL if before else LOW_UNDER)
