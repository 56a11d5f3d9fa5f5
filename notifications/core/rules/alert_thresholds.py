"""Thresholds of alerts that operators may change: NOTIFY_ALERT_THRESHOLDS.

    delivery_rate_low=99,processing_slow=800

The name of a threshold is the kind of the alert. A threshold without a value has the default.
"""

from __future__ import annotations

from typing import Final, NamedTuple, Self

_MOST: Final = {"processing_slow": 60_000.0}
"""Largest value of a threshold; of a percentage 100."""


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
