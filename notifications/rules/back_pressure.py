"""Back-pressure: the effects of the lag of a lane.

    lag of a P3 lane over a limit       new P3 posts get 429 with Retry-After
    lag of a P3 lane over a higher one  P3 deliveries that wait too long are dropped
    lag of a P2 or P3 lane over 100,000 more workers are recommended
    lag of a priority over its size     an alert, also for P0, P1 and P2

The lag of a lane is the number of due deliveries without a worker, and the age of the oldest. P0,
P1 and P2 are never refused or dropped. Test lanes have a lag and no limits.
"""

from __future__ import annotations

import datetime as dt
import math
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Final

from notifications.rules.lane import Lane, Mode, Priority


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
END_SHARE: Final = 0.8
"""A refusal ends when the lag is under this share of both limits, so that it does not flap."""
UNKNOWN_AFTER: Final = dt.timedelta(seconds=60)
"""A sample older than this says nothing: posts are accepted and no delivery is dropped."""
SHORTEST_WAIT: Final = dt.timedelta(seconds=30)
LONGEST_WAIT: Final = dt.timedelta(minutes=15)
"""Bounds of Retry-After before the jitter."""
UNKNOWN_WAIT: Final = dt.timedelta(seconds=60)
"""Retry-After while the rate of the lane is unknown."""
JITTER: Final = 0.5
"""Retry-After grows by up to this share, so that refused producers do not return together."""
SCALE_WAITING: Final = 100_000
"""Lag of a P2 or P3 lane above which more workers are recommended."""
REPLICAS: Final = {Priority.P2: (8, 32), Priority.P3: (4, 64)}
"""Least and most worker processes of a priority, over all channels."""


SIZES: Final = {
    Priority.P0: 500_000,
    Priority.P1: 2_000_000,
    Priority.P2: 10_000_000,
    Priority.P3: 50_000_000,
}
"""Waiting deliveries of a priority, over all channels, that an installation is planned for."""


def is_limited(lane: Lane) -> bool:
    """Return True if the limits apply to the lane: P3 of live mode."""
    return lane.mode is Mode.LIVE and lane.priority is Priority.P3


def refuses(limits: Limits, *, waiting: int, behind: dt.timedelta, refused_before: bool) -> bool:
    """Return True if new posts are refused; a refusal ends at END_SHARE of the limits."""
    share = END_SHARE if refused_before else 1.0
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
    waits = [behind - limits.refuse_behind * END_SHARE]
    excess = waiting - limits.refuse_waiting * END_SHARE
    if excess > 0:
        seconds = excess / per_second if per_second > 0 else UNKNOWN_WAIT.total_seconds()
        waits.append(dt.timedelta(seconds=min(seconds, LONGEST_WAIT.total_seconds())))
    return min(max(*waits, SHORTEST_WAIT), LONGEST_WAIT)


def with_jitter(seconds: int, *, chance: float) -> dt.timedelta:
    """Return Retry-After in whole seconds. `chance`: a random number from 0 to 1."""
    return dt.timedelta(seconds=math.ceil(seconds * (1 + JITTER * chance)))


def by_priority(waiting: Mapping[Lane, int]) -> dict[Priority, int]:
    """Return the lag of each priority of live mode, over all channels."""
    found = dict.fromkeys(Priority, 0)
    for lane, count in waiting.items():
        if lane.mode is Mode.LIVE:
            found[lane.priority] += count
    return found


def workers_wanted(waiting: Mapping[Lane, int]) -> dict[Priority, int]:
    """Return the recommended worker processes of P2 and of P3, from the live lanes' lags.

    A lag of SCALE_WAITING over all channels needs the least number; each further share of
    SCALE_WAITING divided by the least number adds a process, up to the most.
    """
    lags = by_priority(waiting)
    return {
        priority: min(max(least, math.ceil(lags[priority] * least / SCALE_WAITING)), most)
        for priority, (least, most) in REPLICAS.items()
    }
