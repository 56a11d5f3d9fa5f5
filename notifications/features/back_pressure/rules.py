"""Back-pressure: the effects of the lag of a lane.

    lag of a P3 lane over a limit       new P3 posts get 429 with Retry-After
    lag of a P3 lane over a higher one  P3 deliveries that wait too long are dropped

P0, P1 and P2 are never refused or dropped (`rules.lane_lag`).
"""

from __future__ import annotations

import datetime as dt
import math
from dataclasses import dataclass
from typing import Final

from notifications.core.rules import lane_lag


@dataclass(frozen=True, slots=True, kw_only=True)
class Limits:
    """The limits of the lag of a P3 lane."""

    refuse_waiting: int
    """Waiting deliveries above which new posts are refused."""
    refuse_behind: dt.timedelta
    """Age of the oldest above which new posts are refused."""
    drop_waiting: int
    """Waiting deliveries above which stale ones are dropped."""
    drop_behind: dt.timedelta
    """Age of the oldest above which stale ones are dropped."""
    drop_older: dt.timedelta
    """Age from which a delivery is stale."""


DEFAULTS: Final = Limits(
    refuse_waiting=10_000_000,
    refuse_behind=dt.timedelta(hours=2),
    drop_waiting=50_000_000,
    drop_behind=dt.timedelta(hours=4),
    drop_older=dt.timedelta(hours=2),
)
"""Limits of a channel without a row in the admin."""
UNKNOWN_AFTER: Final = dt.timedelta(seconds=60)
"""A sample older than this says nothing: posts are accepted and no delivery is dropped."""
SHORTEST_WAIT: Final = dt.timedelta(seconds=30)
LONGEST_WAIT: Final = dt.timedelta(minutes=15)
"""Bounds of Retry-After before the jitter."""
UNKNOWN_WAIT: Final = dt.timedelta(seconds=60)
"""Retry-After while the rate of the lane is unknown."""
JITTER: Final = 0.5
"""Retry-After grows by up to this share, so that refused producers do not return together."""


def refuses(limits: Limits, *, waiting: int, behind: dt.timedelta, refused_before: bool) -> bool:
    """Return True if new posts are refused; a refusal ends at a share of the limits."""
    share = lane_lag.END_SHARE if refused_before else 1.0
    return waiting > limits.refuse_waiting * share or behind > limits.refuse_behind * share


def drops(limits: Limits, *, waiting: int, behind: dt.timedelta) -> bool:
    """Return True if stale deliveries are dropped."""
    return waiting > limits.drop_waiting or behind > limits.drop_behind


def wait(limits: Limits, *, waiting: int, behind: dt.timedelta, per_second: float) -> dt.timedelta:
    """Return the time after which a refused post may be accepted, without the jitter.

    Args:
        limits: of the lane.
        waiting: due deliveries of the lane.
        behind: age of the oldest.
        per_second: deliveries that the lane sent in a second lately; 0: unknown.
    """
    waits = [behind - limits.refuse_behind * lane_lag.END_SHARE]
    excess = waiting - limits.refuse_waiting * lane_lag.END_SHARE
    if excess > 0:
        seconds = excess / per_second if per_second > 0 else UNKNOWN_WAIT.total_seconds()
        waits.append(dt.timedelta(seconds=min(seconds, LONGEST_WAIT.total_seconds())))
    return min(max(*waits, SHORTEST_WAIT), LONGEST_WAIT)


def with_jitter(seconds: int, *, chance: float) -> dt.timedelta:
    """Return Retry-After in whole seconds. `chance`: a random number from 0 to 1."""
    return dt.timedelta(seconds=math.ceil(seconds * (1 + JITTER * chance)))
