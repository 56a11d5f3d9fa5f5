"""The lag of a lane: due deliveries without a worker, and the age of the oldest.

    lag of a P2 or P3 lane over 100,000 more workers are recommended
    lag of a priority over its size     an alert

Test lanes have a lag and no limits. The feature `back_pressure` refuses and drops P3.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from typing import Final

from notifications.core.rules.lane import Lane, Mode, Priority

END_SHARE: Final = 0.8
"""An alert or a refusal ends under this share of its limit, so that it does not flap."""
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
