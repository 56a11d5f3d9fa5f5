"""The change feed: make messages of status webhooks, and count the events of the roll-ups.

`make_messages` makes messages, of new changes before those of replays. `tell` calls endpoints, in a
queue of its own. Both are safe to run twice and late: rows wait.
"""

from __future__ import annotations

import datetime as dt
import functools

from notifications.core.store.postgres import rollups
from notifications.core.sweeps import loops
from notifications.core.sweeps.rounds import Swept
from notifications.core.webhooks import calls, fan_out


def make_messages(*, now: dt.datetime, limit: int) -> Swept:
    """Make messages until no event is left, or the time is over. A page is `SCANNED` events."""
    del now, limit  # positions, not times, order the feed; a page has a limit of its own
    return loops.repeat(_make_page)


def _make_page() -> Swept:
    made = fan_out.work_off() or fan_out.replay_next()
    return Swept(int(made), more=bool(made))


def tell(*, now: dt.datetime, limit: int) -> Swept:
    """Call endpoints with due messages."""
    del now, limit  # Postgres's clock says what is due; `calls.IN_FLIGHT` limits the calls
    return Swept(calls.work_off())


def count_events(*, now: dt.datetime, limit: int) -> Swept:  # noqa: ARG001 - arguments of a sweep
    """Count events, about `limit` in a transaction, until none is left or the time is over.

    Safe to run twice and beside other runs: the position moves in the transaction that adds the
    counts. A late run counts the events in the buckets of their own times; without a run the events
    wait in the change feed for as long as their notifications are kept.
    """
    return loops.repeat(functools.partial(_count, limit=limit))


def _count(*, limit: int) -> Swept:
    counted = rollups.count_next(limit=limit)
    return Swept(counted.events, more=counted.more)
