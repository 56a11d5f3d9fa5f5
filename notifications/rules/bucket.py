"""Buckets: how the pace that a vendor allows is shared by the priorities.

    urgent   P0, P1   all of the rate; not behind what the patient have reserved
    patient  P2, P3   four fifths of rate and burst, so that an OTP always finds room

A batch is answered with a time for each delivery: its slot. Who cannot be served within `AHEAD` is
given none and asks again later, so that what comes meanwhile and is more urgent need not wait for
it. Over all of them no more than burst + rate * t calls have a slot in any time t.

A provider that throttles lowers its own pace: by half for each second with a throttled call, and
back up over `RECOVERS_IN`. One that states no pace begins with what it had in the last minute.

`store/lua/depart.lua` keeps the buckets; a delivery whose slot has come may be late for it by
`USABLE_FOR`, after that it asks again.
"""

from __future__ import annotations

import datetime as dt
from collections.abc import Mapping
from types import MappingProxyType
from typing import Final

from notifications.rules.lane import Priority

PATIENT_SHARE: Final = 0.8
"""Of rate and burst: the most that P2 and P3 may have."""

AHEAD: Final[Mapping[Priority, dt.timedelta]] = MappingProxyType({
    Priority.P0: dt.timedelta(seconds=300),
    Priority.P1: dt.timedelta(seconds=2),
    Priority.P2: dt.timedelta(seconds=2),
    Priority.P3: dt.timedelta(seconds=2),
})
"""How far in the future a slot may lie. P0: its time to live. The others: what an OTP would have
to wait for at most, were they all before it."""

NOW: Final = dt.timedelta(milliseconds=20)
"""A slot this near is now: holding a row costs more time than that."""
USABLE_FOR: Final = dt.timedelta(seconds=2)
"""After its slot a delivery may still use it for this long: a queue and a claim lie in between."""

SLOWED_EVERY: Final = dt.timedelta(seconds=1)
"""A provider that throttles gets half the pace, at most once in this time: one batch of refused
calls says the same thing many times."""
LEAST_BASE: Final = 10
"""Calls a second: the full pace of a provider that states none and throttles, unless it had more in
the last minute. What it had with little traffic says nothing of what it can take."""
SLOWEST: Final = 1 / 64
"""Of the full pace: the least that throttling leaves."""
RECOVERS_IN: Final = dt.timedelta(seconds=60)
"""From nothing to the full pace, in even steps, if nothing more is throttled."""


def wait_for(slot_at: dt.datetime | None, *, now: dt.datetime) -> dt.timedelta | None:
    """How long to wait for a slot that was reserved before; None: there is none, or it is over."""
    if slot_at is None or slot_at <= now - USABLE_FOR:
        return None
    return max(slot_at - now, dt.timedelta(0))
