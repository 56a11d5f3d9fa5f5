"""Inbox reports: set the deliveries of seen and read inbox items to `delivered` and `read`."""

from __future__ import annotations

import datetime as dt
from typing import Final

from notifications.core import clock
from notifications.core.sweeps import rounds
from notifications.core.sweeps.rounds import Swept
from notifications.features.inbox import reports

_PAGE: Final = 200
"""Reports of a transaction."""


def run_once(*, now: dt.datetime, limit: int) -> Swept:
    """Apply up to `limit` due reports; returns the number of reports.

    Safe to run twice, concurrently or late: a claim moves the due time by a lease, and the
    transition table ignores a report without an effect. Never: deliveries stay `sent`, and fallback
    chains open the next channel although the recipient has seen the message.
    """
    del now  # each page has its own time
    ends_at, done = rounds.deadline(), Swept()
    while done.moved < limit:
        page = min(_PAGE, limit - done.moved)
        count = reports.apply_due(limit=page)
        done += Swept(count)
        if count < page:
            return done
        if clock.monotonic() >= ends_at:
            break
    return done + Swept(more=True)
