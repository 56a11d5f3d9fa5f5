"""Lane lag: the newest sample of the lag of each lane.

The sweep `lane_lag` stores a sample every few seconds. Readers get the stored sample, so a probe or
a scrape reads a few rows, independent of the backlog. While the sweep does not run, a reader
measures the lag with bounded counts.
"""

from __future__ import annotations

import datetime as dt
from dataclasses import dataclass
from typing import Final

from notifications.core.models import LaneLag
from notifications.core.rules.lane import Lane
from notifications.core.store.postgres import backlog
from notifications.core.store.postgres.backlog import Backlog

COUNTED: Final = 100_000
"""Upper bound of the exact count of a sample; a larger lag is estimated."""
FRESH: Final = dt.timedelta(seconds=20)
"""Age up to which a stored sample is shown: four intervals of the sweep."""
_MILLISECOND: Final = dt.timedelta(milliseconds=1)
_SAMPLED: Final = ("waiting", "is_estimate", "behind_ms", "sampled_at")


@dataclass(frozen=True, slots=True, kw_only=True)
class Lag:
    """The lag of a lane."""

    lane: Lane
    waiting: int
    """Due deliveries without a claim."""
    behind: dt.timedelta
    """Time since the oldest could leave."""
    sampled_at: dt.datetime
    is_estimate: bool = False
    refuses: bool = False
    """New P3 posts get 429."""
    drops: bool = False
    """Stale P3 deliveries are dropped."""
    dropped: int = 0
    """Stale deliveries dropped since the drop began."""

    @property
    def is_shown(self) -> bool:
        """Deliveries wait, or back-pressure has an effect."""
        return bool(self.waiting or self.refuses or self.drops)


def newest(*, now: dt.datetime) -> list[Lag]:
    """Return the lag of each lane with due deliveries or back-pressure, urgent lanes first."""
    stored = [_lag(row) for row in LaneLag.objects.all()]
    if stored and all(now - each.sampled_at <= FRESH for each in stored):
        return sorted(stored, key=lambda each: each.lane)
    return [
        Lag(
            lane=each.lane,
            waiting=each.due,
            behind=each.behind,
            sampled_at=now,
            is_estimate=each.is_bounded,
        )
        for each in backlog.of_lanes()
    ]


def sample(*, now: dt.datetime) -> list[LaneLag]:
    """Measure and store the lag of all lanes with past or present due deliveries; returns the rows.

    Safe to run twice: a later sample replaces the earlier sample.
    """
    rows = {Lane.of(row.mode, row.priority, row.channel): row for row in LaneLag.objects.all()}
    found = {each.lane: each for each in backlog.estimate(backlog.of_lanes(counted=COUNTED))}
    for lane in found.keys() - rows.keys():
        rows[lane] = LaneLag(mode=lane.mode, priority=lane.priority, channel=lane.channel)
    for lane, row in rows.items():
        lag = found.get(lane, Backlog(lane=lane, due=0, behind=dt.timedelta()))
        row.waiting, row.is_estimate = lag.due, lag.is_estimate
        row.behind_ms, row.sampled_at = lag.behind // _MILLISECOND, now
    LaneLag.objects.bulk_create(
        rows.values(),
        update_conflicts=True,
        unique_fields=("mode", "priority", "channel"),
        update_fields=_SAMPLED,
    )
    return list(LaneLag.objects.all())


def lane_of(row: LaneLag) -> Lane:
    """Return the lane of a row."""
    return Lane.of(row.mode, row.priority, row.channel)


def behind_of(row: LaneLag) -> dt.timedelta:
    """Return the age of the oldest due delivery."""
    return row.behind_ms * _MILLISECOND


def _lag(row: LaneLag) -> Lag:
    return Lag(
        lane=lane_of(row),
        waiting=row.waiting,
        behind=behind_of(row),
        sampled_at=row.sampled_at,
        is_estimate=row.is_estimate,
        refuses=row.refuses_since is not None,
        drops=row.drops_since is not None,
        dropped=row.dropped,
    )
