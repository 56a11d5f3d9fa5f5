"""Counters and histograms of a process, for Prometheus.

A label has few values: channel, priority, mode, status, outcome, stage, provider, sweep, route. A
text of a producer is never a label. Callers add once per batch, so a delivery costs microseconds.
Histograms cover live mode only.
"""

from __future__ import annotations

from bisect import bisect_left
from collections import Counter as Tally
from collections.abc import Iterable, Sequence
from typing import Final

from prometheus_client import (
    CollectorRegistry,
    Counter,
    Histogram,
    disable_created_metrics,
    values,
)

from notifications.core.telemetry import process_number

_number: Final = process_number.from_environment()
if _number is not None:
    values.ValueClass = values.MultiProcessValue(_number)  # type: ignore[no-untyped-call]  # untyped
# prometheus_client adds a series `_created` to each counter: a third more series.
disable_created_metrics()  # type: ignore[no-untyped-call]  # untyped
REGISTRY: Final = CollectorRegistry()
"""The instruments of the process, without the figures of Python."""


class _Switch:
    is_on = True


def are_on() -> bool:
    """Return True if the process counts; a process whose metrics are not served does not."""
    return _Switch.is_on


def switch(*, on: bool) -> None:
    """Count from now on, or stop counting."""
    _Switch.is_on = on


_CALL_BUCKETS: Final = (0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1.0, 2.5, 5.0, 10.0)
_STAGE_BUCKETS: Final = (
    *(0.05, 0.1, 0.25, 0.5, 1.0, 3.0, 5.0, 10.0, 30.0),
    *(60.0, 300.0, 1800.0, 7200.0, 86400.0),
)


class BatchHistogram(Histogram):
    """A histogram that takes the values of a batch with one addition per bucket."""

    def observe_all(self, values: Iterable[float]) -> None:
        """Observe each value, in seconds."""
        sum_, counts = 0.0, Tally[int]()
        for value in values:
            sum_ += value
            counts[bisect_left(self._upper_bounds, value)] += 1
        if counts:
            self._sum.inc(sum_)
            for bucket, count in counts.items():
                self._buckets[bucket].inc(count)


def _counter(name: str, sentence: str, *labels: str) -> Counter:
    return Counter(f"notifications_{name}", sentence, labels, registry=REGISTRY)


def _histogram(
    name: str, sentence: str, *labels: str, buckets: Sequence[float] = _CALL_BUCKETS
) -> BatchHistogram:
    return BatchHistogram(
        f"notifications_{name}_seconds", sentence, labels, registry=REGISTRY, buckets=buckets
    )


ACCEPTED: Final = _counter("accepted", "Accepted notifications", "mode", "priority")
DELIVERIES: Final = _counter(
    "deliveries", "Deliveries of accepted notifications", "mode", "priority", "channel"
)
TRANSITIONS: Final = _counter(
    "transitions",
    "Status changes of deliveries after accept, by new status; a claim is no status change here",
    *("mode", "priority", "channel", "status"),
)
REFUSED_FOR_LAG: Final = _counter(
    "refused_for_lag", "P3 posts that got 429 because of the lag of their lane", "lane"
)
BODIES_REFUSED: Final = _counter(
    "bodies_refused",
    "Single requests that got 503 because the bodies of requests that wait for PostgreSQL took too"
    " much memory",
)
SMS_REFUSED: Final = _counter(
    "sms_refused",
    "P0 and P1 SMS above a ceiling of SMS pumping protection, at accept (429) or send (held)",
    *("ceiling", "country", "at"),
)
CALLS: Final = _counter(
    "calls",
    "Results of provider calls; notstarted is a call that did not begin, refused_part a refusal of"
    " the sender or template of one message, or of an address outside a sandbox",
    *("mode", "priority", "channel", "provider", "outcome"),
)
RETRIES: Final = _counter(
    "retries",
    "Provider calls after the first call of a delivery",
    *("mode", "priority", "channel", "provider"),
)
REPEATS: Final = _counter(
    "repeats",
    "Accepted calls after an unanswered call whose message the person may have seen, so that the"
    " person may have seen two",
    *("mode", "priority", "channel", "provider"),
)
SWEPT_ROWS: Final = _counter(
    "swept_rows", "Rows that a sweep moved, and rows that failed", "sweep", "result"
)
INBOX_READS: Final = _counter(
    "inbox_reads", "Reads of page 1 and counts of inboxes from the state Redis", "result"
)
ACCEPT_SECONDS: Final = _histogram(
    "accept", "Time to check and store the requests of one transaction"
)
CALL_SECONDS: Final = _histogram("call", "Latency of provider calls", "provider", "channel")
SETTLE_SECONDS: Final = _histogram("settle", "Time to store the outcomes of one group of calls")
STAGE_SECONDS: Final = _histogram(
    "stage",
    "Time from accept to the first call and to its acceptance; without send_at, with other holds",
    *("stage", "priority", "channel"),
    buckets=_STAGE_BUCKETS,
)
RETRY_LAG_SECONDS: Final = _histogram(
    "retry_lag",
    "Time from the due time of a retry to its call",
    *("priority", "channel"),
    buckets=_STAGE_BUCKETS,
)
RECEIPT_SECONDS: Final = _histogram(
    "receipt",
    "Time from sent to the arrival of the receipt of delivery",
    *("provider", "channel"),
    buckets=_STAGE_BUCKETS,
)
SWEEP_SECONDS: Final = _histogram(
    "sweep", "Duration of the runs of a sweep", "sweep", buckets=(*_CALL_BUCKETS, 30.0, 60.0)
)
TOKENS_REFUSED: Final = _counter(
    "recipient_tokens_refused_total", "Recipient tokens that were refused", "reason"
)
HTTP_REQUEST_SECONDS: Final = _histogram(
    "http_request",
    "Time to answer an HTTP request, by route and class of status such as 2xx",
    *("method", "route", "status"),
)
INSTRUMENTS: Final = tuple(
    each for each in globals().values() if isinstance(each, (Counter, Histogram))
)
"""Every instrument, in the order of definition."""
