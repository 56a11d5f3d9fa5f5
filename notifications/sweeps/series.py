"""Series: handle custom events, and continue due enrolments in bounded batches."""

from __future__ import annotations

import datetime as dt

from notifications import clock
from notifications.series import events, steps
from notifications.store.postgres import series as store
from notifications.sweeps import rounds
from notifications.sweeps.rounds import Swept


def run_once(*, now: dt.datetime, limit: int) -> Swept:
    """Handle stored events, then due enrolments, `limit` at a time, until the time is over.

    Safe to run twice, concurrently or late: batches lock their rows and skip locked rows, and an
    event or an enrolment that is not handled stays due. Series take turns, so a large series does
    not block a small series.
    """
    ends_at, done = rounds.deadline(), Swept()
    while True:
        handled = events.handle_batch(limit=limit)
        done += Swept(handled.claimed, handled.failed)
        if handled.claimed < limit:
            break
        if clock.monotonic() >= ends_at:
            return done + Swept(more=True)
    waiting = store.due(now)
    while waiting:
        full = []
        for each in waiting:
            batch = steps.run_batch(each, now=now, limit=limit)
            done += Swept(batch.claimed, batch.failed)
            if batch.claimed == limit:
                full.append(each)
            if clock.monotonic() >= ends_at:
                return done + Swept(more=bool(full) or each is not waiting[-1])
        waiting = full
    return done
