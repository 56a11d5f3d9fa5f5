"""Inbox reports: set the deliveries of seen and read inbox items to `delivered` and `read`."""

from __future__ import annotations

import datetime as dt
import functools
from typing import Final

from notifications.core.sweeps import loops
from notifications.core.sweeps.rounds import Swept
from notifications.features.inbox import reports

_PAGE: Final = 200
"""Reports of a transaction."""


def run_once(*, now: dt.datetime, limit: int) -> Swept:
    """Apply due reports, up to `limit` at a time; counts the reports.

    Safe to run twice, concurrently or late: a claim moves the due time by a lease, and the
    transition table ignores a report without an effect. Never: deliveries stay `sent`, and fallback
    chains open the next channel although the recipient has seen the message.
    """
    del now  # each page has its own time
    return loops.repeat(functools.partial(_apply, limit=min(_PAGE, limit)))


def _apply(*, limit: int) -> Swept:
    count = reports.apply_due(limit=limit)
    return Swept(count, more=count == limit)
