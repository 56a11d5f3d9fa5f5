"""Figures of a bulk job: totals, statuses, progress, rate, and the expected end.

A total counts events of deliveries, each once: a delivery that was sent and read counts in both. A
status counts the deliveries which have the status now.
"""

from __future__ import annotations

import datetime as dt
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Final

from notifications.core.rules.bulk_job import BulkJobState, Expansion, Total
from notifications.features.bulk_jobs.rules import pace

_WHOLE: Final = 100.0
_ALMOST: Final = 99.9
"""Most percent of a job that is not finished: the size of an audience is an estimate."""
_SHORTEST: Final = dt.timedelta(seconds=1)
"""Least time over which a rate is measured."""


FUNNEL: Final = (Total.ACCEPTED, Total.SENT, Total.DELIVERED, Total.READ, Total.CLICKED)


@dataclass(frozen=True, slots=True)
class VariantFigures:
    """The counts of a variant, or of a whole job."""

    totals: Mapping[Total, int] = field(default_factory=dict)
    """Every total; a count without an event is 0."""
    statuses: Mapping[str, int] = field(default_factory=dict)
    """Status -> deliveries; a status without a delivery is left out."""

    def total(self, total: Total) -> int:
        """Return a total; 0 without an event."""
        return self.totals.get(total, 0)


@dataclass(frozen=True, slots=True)
class Plan:
    """The wanted pace of a job."""

    state: BulkJobState
    starts_at: dt.datetime
    started_at: dt.datetime | None = None
    estimate: int | None = None
    """Estimated size of the audience."""
    rate_per_second: float | None = None
    spread_seconds: int | None = None
    ceiling: float | None = None
    """Messages per second that no job exceeds; None: no ceiling."""

    @property
    def rate(self) -> float | None:
        """Wanted messages per second; None: as fast as the lanes deliver."""
        return pace.rate(self, ceiling=self.ceiling)


@dataclass(frozen=True, slots=True)
class Mark:
    """The progress of a job at an earlier time."""

    at: dt.datetime
    examined: int = 0
    accepted: int = 0


def percent(plan: Plan, expansion: Expansion) -> float:
    """Return the examined part of the audience in percent; 100 only for a finished job."""
    if plan.state is BulkJobState.FINISHED:
        return _WHOLE
    return min(round(_WHOLE * _part(plan, expansion), 1), _ALMOST)


def _part(plan: Plan, expansion: Expansion) -> float:
    if plan.estimate:
        return min(expansion.examined / plan.estimate, 1.0)
    return expansion.ids_done / expansion.ids if expansion.ids else 0.0


@dataclass(frozen=True, slots=True)
class Rates:
    """Recipients and messages per second of the last minute."""

    examined: float = 0.0
    accepted: float = 0.0


def rates(expansion: Expansion, mark: Mark | None, *, now: dt.datetime) -> Rates:
    """Return the rates since an earlier time; 0 without an earlier time."""
    if mark is None or now - mark.at < _SHORTEST:
        return Rates()
    seconds = (now - mark.at).total_seconds()
    return Rates(
        examined=max(expansion.examined - mark.examined, 0) / seconds,
        accepted=max(expansion.accepted - mark.accepted, 0) / seconds,
    )


def end(plan: Plan, expansion: Expansion, speed: Rates, *, now: dt.datetime) -> dt.datetime | None:
    """Return the expected end of the expansion; None if the end is unknown, or for a paused job."""
    remaining = _remaining(plan, expansion)
    if plan.state not in {BulkJobState.SCHEDULED, BulkJobState.RUNNING} or remaining is None:
        return None
    begins = max(now, plan.starts_at, expansion.last_start or now)
    per_second = speed.examined or plan.rate
    if not per_second:
        return None
    try:
        return begins + dt.timedelta(seconds=remaining / per_second)
    except OverflowError:
        return None


def _remaining(plan: Plan, expansion: Expansion) -> float | None:
    """Return the number of recipients who are not examined; None if unknown."""
    if plan.estimate:
        return max(plan.estimate - expansion.examined, 0)
    part = _part(plan, expansion)
    return expansion.examined * (1 - part) / part if part else None
