"""Series: handle custom events, and continue due enrolments in bounded batches."""

from __future__ import annotations

import datetime as dt
import functools

from notifications.core import clock
from notifications.core.sweeps import loops, rounds
from notifications.core.sweeps.rounds import Swept
from notifications.features.series import events, steps
from notifications.features.series import rows as store


def run_once(*, now: dt.datetime, limit: int) -> Swept:
    """Handle stored events, then due enrolments, `limit` at a time, until the time is over.

    Safe to run twice, concurrently or late: batches lock their rows and skip locked rows, and an
    event or an enrolment that is not handled stays due. Events take at most half of the time, so
    many events do not stop due steps. Series take turns, the series with the longest due enrolment
    first, so a large series does not block a small series.
    """
    ends_at, began = rounds.deadline(), clock.now()
    handle = functools.partial(_handle_events, limit=limit)
    done = loops.repeat(handle, ends_at=ends_at - rounds.SECONDS / 2)
    waiting = store.due(now)
    while waiting:
        full = []
        for each in waiting:
            # A wait begins at the present, also after a stop of the process.
            batch = steps.run_batch(each, now=now + (clock.now() - began), limit=limit)
            done += Swept(batch.claimed, batch.failed)
            if batch.claimed == limit:
                full.append(each)
            if clock.monotonic() >= ends_at:
                return done + Swept(more=bool(full) or each is not waiting[-1])
        waiting = full
    return done


def _handle_events(*, limit: int) -> Swept:
    handled = events.handle_batch(limit=limit)
    return Swept(handled.claimed, handled.failed, more=handled.claimed == limit)
