"""Roll-ups: count the events of the change feed.

Safe to run twice and beside other runs: the position moves in the transaction that adds the counts.
A late run counts the events in the buckets of their own times; without a run the events wait in the
change feed for as long as their notifications are kept.

Each run also stores the progress of the running bulk jobs, from which their rates are computed.
"""

from __future__ import annotations

import datetime as dt

from notifications import clock
from notifications.store.postgres import bulk_job_figures, rollups
from notifications.sweeps import rounds
from notifications.sweeps.rounds import Swept


def run_once(*, now: dt.datetime, limit: int) -> Swept:
    """Count events, about `limit` in a transaction, until none is left or the time is over."""
    bulk_job_figures.sample(now=now)
    ends_at, events = rounds.deadline(), 0
    while True:
        counted = rollups.count_next(limit=limit)
        events += counted.events
        if not counted.more or clock.monotonic() >= ends_at:
            return Swept(events, more=counted.more)
