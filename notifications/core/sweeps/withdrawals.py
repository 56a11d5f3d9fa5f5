"""Withdrawals: send the silent pushes that remove shown messages, and remove inbox items."""

from __future__ import annotations

import datetime as dt
from typing import Final

from notifications.core import clock
from notifications.core.operations import withdrawal_calls
from notifications.core.store.postgres import withdrawals
from notifications.core.sweeps import rounds
from notifications.core.sweeps.rounds import Swept

_PAGE: Final = 100
"""Withdrawals of a claim, whose calls run concurrently."""


def run_once(*, now: dt.datetime, limit: int) -> Swept:
    """Process up to `limit` due withdrawals; returns the number of processed rows.

    Safe to run twice, concurrently or late: a claim moves the due time by a lease, and a withdrawal
    that is called again after a kill removes nothing more. Never: the messages stay on the devices.
    """
    del now  # each page has its own time
    ends_at, done = rounds.deadline(), Swept()
    while done.moved < limit:
        rows = withdrawals.claim(now=clock.now(), limit=min(_PAGE, limit - done.moved))
        withdrawal_calls.process(rows)
        done += Swept(len(rows))
        if len(rows) < _PAGE:
            return done
        if clock.monotonic() >= ends_at:
            break
    return done + Swept(more=True)
