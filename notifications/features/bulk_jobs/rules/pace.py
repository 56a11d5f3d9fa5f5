"""Pace of a bulk job: the time of each message, and the number of messages to create ahead.

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
from typing import Final, Protocol

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


class Paced(Protocol):
    """The columns of a bulk job that give its rate."""

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
    138.9 slots per second. A recipient who is left out uses a slot as well. The messages therefore
    end with the time and never exceed the rate.
    """
    wanted = _wanted(job)
    if ceiling is None or wanted is None:
        return wanted or ceiling
    return min(wanted, ceiling)


def is_limited(job: Paced, *, ceiling: float | None) -> bool:
    """Return True if the ceiling makes a job slower than its request."""
    wanted = _wanted(job)
    return ceiling is not None and (wanted is None or wanted > ceiling)


def _wanted(job: Paced) -> float | None:
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
