"""The stages of a delivery and the seconds from accept to each stage.

A receipt has two times: the time at which the service stored the receipt, and the time that the
provider or the app gives for the fact. The second time is nearer to the truth, because a receipt
may come hours late. The second time is also the time of a foreign clock, so a stage uses the time
only if the time is possible: not before accept, and not after the receipt arrived. A time up to
CLOCK_SKEW outside these bounds is moved to the bound; any other time stays in the timeline as it
was given and is left out of the stages, so that no wrong clock makes a latency negative or huge.
"""

from __future__ import annotations

import datetime as dt
from dataclasses import dataclass
from enum import StrEnum
from typing import Final

CLOCK_SKEW: Final = dt.timedelta(minutes=1)
"""Largest difference of two clocks that are both set; also covers times without seconds."""


class Stage(StrEnum):
    """A stage of a delivery."""

    ACCEPTED = "accepted"
    """The service stored the request."""
    CALLED = "called"
    """The first provider call began."""
    SENT = "sent"
    """A provider accepted the message."""
    DELIVERED = "delivered"
    """The message reached the device, handset or mailbox."""
    READ = "read"
    """The recipient opened the message."""


class TimeSource(StrEnum):
    """The clock of an instant."""

    SERVICE = "service"
    """The service's own clock."""
    RECEIPT = "receipt"
    """The clock of the provider or the app that sent the receipt."""


@dataclass(frozen=True, slots=True, kw_only=True)
class ReceivedReport:
    """The first receipt for a stage."""

    received_at: dt.datetime
    occurred_at: dt.datetime | None
    """The time given in the receipt, unchecked."""


@dataclass(frozen=True, slots=True, kw_only=True)
class StageTime:
    """The instant of a stage."""

    stage: Stage
    at: dt.datetime
    seconds_since_accept: float
    source: TimeSource


def stage_times(
    *,
    accepted_at: dt.datetime,
    called_at: dt.datetime | None,
    sent_at: dt.datetime | None,
    delivered: ReceivedReport | None,
    read: ReceivedReport | None,
) -> tuple[StageTime, ...]:
    """Return the stages that a delivery has reached, in the order of `Stage`.

    A receipt that came before the provider's own answer sets `sent_at` too. This acceptance has no
    instant of its own, so SENT is left out. The clocks of hosts and Postgres differ a little: an
    instant before accept counts as accept.
    """
    if delivered is not None and sent_at == delivered.received_at:
        sent_at = None
    ours = {Stage.ACCEPTED: accepted_at, Stage.CALLED: called_at, Stage.SENT: sent_at}
    known = {stage: (at, TimeSource.SERVICE) for stage, at in ours.items() if at is not None}
    for stage, report in ((Stage.DELIVERED, delivered), (Stage.READ, read)):
        if report is not None:
            known[stage] = _instant(report, accepted_at=accepted_at)
    return tuple(
        StageTime(
            stage=stage,
            at=max(at, accepted_at),
            seconds_since_accept=round(max((at - accepted_at).total_seconds(), 0.0), 3),
            source=source,
        )
        for stage, (at, source) in known.items()
    )


def storable(occurred_at: dt.datetime | None) -> dt.datetime | None:
    """Return the given time of a receipt in UTC; None for a time that names no instant.

    A time without a zone names no instant. A time next to year 1 or 9999 may have no value in UTC.
    """
    if occurred_at is None or occurred_at.utcoffset() is None:
        return None
    try:
        return occurred_at.astimezone(dt.UTC)
    except OverflowError:
        return None


def _instant(report: ReceivedReport, *, accepted_at: dt.datetime) -> tuple[dt.datetime, TimeSource]:
    given = report.occurred_at
    last = max(report.received_at, accepted_at)
    if given is None or not accepted_at - CLOCK_SKEW <= given <= last + CLOCK_SKEW:
        return report.received_at, TimeSource.SERVICE
    return min(max(given, accepted_at), last), TimeSource.RECEIPT
