"""Pace of a bulk job: the time of each message, and the number of messages to create ahead.

Jobs of a lane share the room of the lane until the next division (`divide_room`).

    now                       now + WINDOW
     ├──|──|──|──|──|──|──|──|──┤            a slot every 1 / rate seconds
        └ next_at                            the first slot without a message

A message takes the next free slot. Slots exist as times only: `next_at` is the whole state. After a
pause, `next_at` is in the past, and the slots go on from BURST before the present: messages that
were not created in the pause are not caught up.
"""

from __future__ import annotations

import datetime as dt
import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final, Generic, Protocol, TypeVar

WINDOW: Final = dt.timedelta(seconds=60)
"""Messages are created so long before their slots at most. An expander that is away for a shorter
time delays no message."""
REFILL: Final = dt.timedelta(seconds=1)
"""Least free time at the end of the window for a page, so that pages are not tiny."""
BURST: Final = dt.timedelta(seconds=2)
"""Slots in the past that are still used, by an expander that is a little late."""
_SECOND: Final = dt.timedelta(seconds=1)
_SMALLEST_RATE: Final = 0.001
"""Messages per second."""

JobKey = TypeVar("JobKey")

SMALLEST_WINDOW: Final = 100
"""Rows; the window of a lane at the start."""
LARGEST_WINDOW: Final = 100_000
_LONGEST_WAIT: Final = dt.timedelta(seconds=30)
"""Wait of the oldest row at which the window shrinks."""
RATED_WINDOW: Final = dt.timedelta(seconds=30)
"""Slots of a job with a rate that may wait in a lane which is late."""


class Paced(Protocol):
    """The columns of a bulk job for the rate."""

    @property
    def rate_per_second(self) -> float | None:
        """Messages per second."""

    @property
    def spread_seconds(self) -> int | None:
        """Time over which the messages are spread evenly."""

    @property
    def estimate(self) -> int | None:
        """Estimated size of the audience in recipients."""


def rate(job: Paced, *, ceiling: float | None) -> float | None:
    """Return slots per second, at most `ceiling`; None without a limit.

    `spread_seconds` divides the estimated audience evenly: 5 million recipients over 10 hours are
    138.9 slots per second. A left-out recipient uses a slot as well. The messages therefore
    end with the time and never exceed the rate.
    """
    wanted = _requested_rate(job)
    if ceiling is None or wanted is None:
        return wanted or ceiling
    return min(wanted, ceiling)


def is_limited(job: Paced, *, ceiling: float | None) -> bool:
    """Return True if the ceiling makes a job slower than its request."""
    wanted = _requested_rate(job)
    return ceiling is not None and (wanted is None or wanted > ceiling)


def _requested_rate(job: Paced) -> float | None:
    if job.rate_per_second:
        return max(job.rate_per_second, _SMALLEST_RATE)
    if job.spread_seconds and job.estimate:
        return max(job.estimate / job.spread_seconds, _SMALLEST_RATE)
    return None


def first_slot(next_at: dt.datetime | None, *, now: dt.datetime) -> dt.datetime:
    """Return the first free slot; slots further in the past than BURST are lost."""
    return now if next_at is None else max(next_at, now - BURST)


def free_slots(next_at: dt.datetime | None, *, per_second: float, now: dt.datetime) -> int:
    """Return the number of free slots until the end of the window; 0 if they are under REFILL."""
    room = now + WINDOW - first_slot(next_at, now=now)
    return math.ceil(room / _SECOND * per_second) if room >= REFILL else 0


def take(
    next_at: dt.datetime | None, count: int, *, slots: int, per_second: float, now: dt.datetime
) -> tuple[list[dt.datetime], dt.datetime]:
    """Take slots; returns the times of the messages, and the new `next_at`.

    Args:
        next_at: the first free slot; None: no slot was taken yet.
        count: the messages, spread evenly over the slots.
        slots: the slots to take, at least `count`.
        per_second: slots per second.
        now: the present.
    """
    begin = first_slot(next_at, now=now)
    used = max(slots, count)
    length = used / per_second
    step = length / count if count else 0.0
    times = [begin + dt.timedelta(seconds=place * step) for place in range(count)]
    return times, begin + dt.timedelta(seconds=length)


@dataclass(frozen=True, slots=True)
class Demand(Generic[JobKey]):
    """The wish of a job."""

    key: JobKey
    weight: int
    wanted: float
    """Rows; infinite without a limit."""


def lane_window(
    last: int, *, waiting: int, behind: dt.timedelta, wanted: float, rated_per_second: float
) -> int:
    """Return the window of a lane in rows.

    The window follows the lane: the window doubles while the lane empties it, and shrinks to the
    rows that leave in LONGEST_WAIT while rows wait longer.

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
    if behind > _LONGEST_WAIT:
        size = min(last, int(waiting * (_LONGEST_WAIT / behind)))
    elif waiting <= last // 2 and wanted > last:
        size = last * 2
    elif wanted < last / 4:
        size = last // 2
    return max(least, min(size, LARGEST_WINDOW))


def divide_room(room: float, asks: Sequence[Demand[JobKey]]) -> dict[JobKey, float]:
    """Divide the room by weight; no job gets more than it wants.

        room of the lane  =  window  -  waiting rows  -  rows that were allowed and not yet created

    A share that a job does not need goes to the other jobs.

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
