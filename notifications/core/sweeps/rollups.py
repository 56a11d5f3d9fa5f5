"""Roll-ups: count the events of the change feed.

Safe to run twice and beside other runs: the position moves in the transaction that adds the counts.
A late run counts the events in the buckets of their own times; without a run the events wait in the
change feed for as long as their notifications are kept.
"""

from __future__ import annotations

import datetime as dt
import functools

from notifications.core.store.postgres import rollups
from notifications.core.sweeps import loops
from notifications.core.sweeps.rounds import Swept


def run_once(*, now: dt.datetime, limit: int) -> Swept:  # noqa: ARG001 - arguments of a sweep
    """Count events, about `limit` in a transaction, until none is left or the time is over."""
    return loops.repeat(functools.partial(_count, limit=limit))


def _count(*, limit: int) -> Swept:
    counted = rollups.count_next(limit=limit)
    return Swept(counted.events, more=counted.more)
