"""Buckets: how the priorities share the pace that a vendor allows.

    urgent   P0, P1   all of the rate; not behind reservations of P2 and P3
    patient  P2, P3   four fifths of rate and burst, so that an OTP always finds room

Every delivery of a batch gets a slot: a time. Without a free slot within `AHEAD` the delivery asks
again later, behind more urgent deliveries. At most burst + rate * t calls have a slot in any time
t.

A throttling provider's pace is halved for each second with a throttled call, and raised again over
`RECOVERS_IN`. A provider without a stated pace begins with its rate of the last minute.

`store/redis/lua/depart.lua` keeps the buckets.
"""

from __future__ import annotations

import datetime as dt
from collections.abc import Mapping
from types import MappingProxyType
from typing import Final

from notifications.core.rules.lane import Priority

PATIENT_SHARE: Final = 0.8
"""Share of rate and burst for P2 and P3."""

AHEAD: Final[Mapping[Priority, dt.timedelta]] = MappingProxyType({
    Priority.P0: dt.timedelta(seconds=300),
    Priority.P1: dt.timedelta(seconds=2),
    Priority.P2: dt.timedelta(seconds=2),
    Priority.P3: dt.timedelta(seconds=2),
})
"""Longest time until a slot. P0: the time to live."""

NOW: Final = dt.timedelta(milliseconds=20)
"""A slot this near is now, because holding a row takes longer."""
USABLE_FOR: Final = dt.timedelta(seconds=2)
"""A delivery may be this late for its slot: a queue and a claim lie in between."""

SLOWED_EVERY: Final = dt.timedelta(seconds=1)
"""A throttling provider gets half the pace, at most once in this time."""
LEAST_BASE: Final = 10
"""Calls a second: the full pace of a throttling provider that states none, unless it had more in
the last minute."""
SLOWEST: Final = 1 / 64
"""Share of the full pace that throttling leaves at least."""
RECOVERS_IN: Final = dt.timedelta(seconds=60)
"""From zero to the full pace, in even steps, without further throttling."""


def wait_for(slot_at: dt.datetime | None, *, now: dt.datetime) -> dt.timedelta | None:
    """Return the wait until a reserved slot; None without a slot, or after the slot has passed."""
    if slot_at is None or slot_at <= now - USABLE_FOR:
        return None
    return max(slot_at - now, dt.timedelta(0))
