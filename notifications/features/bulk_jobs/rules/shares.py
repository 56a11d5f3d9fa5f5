"""Shares of bulk jobs in a lane: how many rows each job may create until the next division.

    room of the lane  =  window  -  waiting rows  -  rows that were allowed and not yet created

The room is divided by the weights of the jobs. A share that a job does not need goes to the other
jobs. The window follows the lane: the window doubles while the lane empties it, and shrinks to the
rows that leave in LONGEST_WAIT while rows wait longer.
"""

from __future__ import annotations

import datetime as dt
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final, Generic, TypeVar

Key = TypeVar("Key")

SMALLEST_WINDOW: Final = 100
"""Rows; the window of a lane at the start."""
LARGEST_WINDOW: Final = 100_000
LONGEST_WAIT: Final = dt.timedelta(seconds=30)
"""Wait of the oldest row at which the window shrinks."""
RATED_WINDOW: Final = dt.timedelta(seconds=30)
"""Slots of a job with a rate that may wait in a lane which is late."""


@dataclass(frozen=True, slots=True)
class Demand(Generic[Key]):
    """The wish of a job."""

    key: Key
    weight: int
    wanted: float
    """Rows; infinite without a limit."""


def window(
    last: int, *, waiting: int, behind: dt.timedelta, wanted: float, rated_per_second: float
) -> int:
    """Return the window of a lane in rows.

    Args:
        last: the window before.
        waiting: due rows that no worker has.
        behind: wait of the oldest row.
        wanted: rows that the jobs want.
        rated_per_second: sum of the rates of the jobs with a rate, which are limited anyway.
    """
    rated = min(rated_per_second * RATED_WINDOW.total_seconds(), LARGEST_WINDOW)
    least = max(SMALLEST_WINDOW, int(rated))
    size = last
    if behind > LONGEST_WAIT:
        size = min(last, int(waiting * (LONGEST_WAIT / behind)))
    elif waiting <= last // 2 and wanted > last:
        size = last * 2
    elif wanted < last / 4:
        size = last // 2
    return max(least, min(size, LARGEST_WINDOW))


def divide(room: float, asks: Sequence[Demand[Key]]) -> dict[Key, float]:
    """Divide the room by weight; no job gets more than it wants.

    Shares are fractions, so that a small room is divided exactly over time.
    """
    shares = {ask.key: 0.0 for ask in asks}
    open_ = [ask for ask in asks if ask.wanted > 0]
    while open_ and room > 0:
        per_weight = room / sum(ask.weight for ask in open_)
        content = [ask for ask in open_ if ask.wanted <= per_weight * ask.weight]
        for ask in content or open_:
            shares[ask.key] = ask.wanted if content else per_weight * ask.weight
            room -= shares[ask.key]
        open_ = [ask for ask in open_ if ask not in content] if content else []
    return shares
