"""The metrics of questions: counts, rates of counts, and percentiles of latencies."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final

from notifications.core.rules.rollups import Counter, Latency

_MICROS: Final = 1_000_000


@dataclass(frozen=True, slots=True)
class Count:
    """A sum of counts, divided by a constant."""

    counter: Counter
    divisor: int = 1


@dataclass(frozen=True, slots=True)
class Rate:
    """A sum of counts divided by another sum: a number from 0 to 1, or none without a divisor."""

    part: tuple[Counter, ...]
    whole: tuple[Counter, ...]


@dataclass(frozen=True, slots=True)
class Percentile:
    """A percentile of a latency, in milliseconds."""

    latency: Latency
    share: float
    """0.95 for p95."""


@dataclass(frozen=True, slots=True)
class Metric:
    """A metric by its name in the API."""

    name: str
    unit: str
    """deliveries, calls, USD, ratio or ms."""
    sentence: str
    source: Count | Rate | Percentile


_C = Counter
_ENDED: Final = (_C.SENT, _C.FAILED, _C.EXPIRED)
_RATES: Final = (
    Metric(
        "delivery_rate",
        "ratio",
        "Delivered divided by sent; low for providers without receipts.",
        Rate((_C.DELIVERED,), (_C.SENT,)),
    ),
    Metric(
        "failure_rate",
        "ratio",
        "Failed, bounced and expired, divided by sent, failed and expired.",
        Rate((_C.FAILED, _C.BOUNCED, _C.EXPIRED), _ENDED),
    ),
    Metric("read_rate", "ratio", "Read divided by sent.", Rate((_C.READ,), (_C.SENT,))),
    Metric("click_rate", "ratio", "Clicked divided by sent.", Rate((_C.CLICKED,), (_C.SENT,))),
    Metric(
        "call_failure_rate",
        "ratio",
        "Provider calls without acceptance divided by provider calls.",
        Rate((_C.FAILED_CALLS,), (_C.CALLS,)),
    ),
    Metric(
        "retry_success_rate",
        "ratio",
        "Of the deliveries that ended after two or more calls, the share that was sent.",
        Rate((_C.SENT_AFTER_RETRY,), (_C.SENT_AFTER_RETRY, _C.FAILED_AFTER_RETRY)),
    ),
)
_LATENCIES: Final = {
    Latency.ACCEPT_TO_CALL: "from acceptance, or from the scheduled time, to the first call",
    Latency.CALL_TO_ANSWER: "from the start of a provider call to the answer",
    Latency.ACCEPT_TO_DELIVERED: "from acceptance, or from the scheduled time, to the arrival",
}
_SHARES: Final = {"p50": 0.5, "p95": 0.95, "p99": 0.99}
_CALLS: Final = frozenset({_C.CALLS, _C.FAILED_CALLS})


def _counts() -> list[Metric]:
    plain = [
        Metric(each.value, "calls" if each in _CALLS else "deliveries", each.sentence, Count(each))
        for each in Counter
        if each is not _C.COST_MICROS
    ]
    cost = Metric(
        "cost",
        "USD",
        "Cost of accepted calls: SMS segments and e-mails at list prices.",
        Count(_C.COST_MICROS, _MICROS),
    )
    return [*plain, cost]


def _percentiles() -> list[Metric]:
    return [
        Metric(
            f"{latency.name.lower()}_{name}",
            "ms",
            f"The {name} of the time {meaning}.",
            Percentile(latency, share),
        )
        for latency, meaning in _LATENCIES.items()
        for name, share in _SHARES.items()
    ]


METRICS: Final = {each.name: each for each in [*_counts(), *_RATES, *_percentiles()]}
"""The metrics by name."""
