"""Time and chance: the only place that asks for either, so that everything else can be given them.

Leases and due times are set by Postgres's clock inside SQL. What Python computes between two
statements uses `now()`; the boot check refuses a machine whose clock is far from the database's.
"""

from __future__ import annotations

import datetime as dt
import random
import secrets
import time
from uuid import UUID

from notifications.rules import ids

_chance = random.SystemRandom()


def now() -> dt.datetime:
    """The current instant, aware, in UTC."""
    return dt.datetime.now(dt.UTC)


def monotonic() -> float:
    """Seconds that never go back: for measuring how long something took."""
    return time.monotonic()


def jitter() -> float:
    """One draw from [0, 1)."""
    return _chance.random()


def new_notification_id() -> UUID:
    """A fresh notification id of this millisecond."""
    return ids.notification_id(
        at_ms=time.time_ns() // 1_000_000, entropy=secrets.randbits(ids.RANDOM_BITS)
    )


AT_ONCE = dt.timedelta(0)
"""No wait: due now, by whichever clock decides."""
