"""Order: places in lines whose deliveries are settled, and ordering keys out of use."""

from __future__ import annotations

import datetime as dt

from notifications.store import line
from notifications.sweeps.rounds import Swept


def run_once(*, now: dt.datetime, limit: int) -> Swept:
    """Forget up to `limit` of each.

    Safe at any time: a line passes over who is settled, and a key in use is kept.
    """
    del now  # used within a day is what Postgres's clock says
    return Swept(line.trim(limit=limit))
