"""Withdrawals: send the silent pushes that remove shown messages, and remove inbox items."""

from __future__ import annotations

import datetime as dt
import functools
from typing import Final

from notifications.core import clock
from notifications.core.operations import withdrawal_calls
from notifications.core.store.postgres import withdrawals
from notifications.core.sweeps import loops
from notifications.core.sweeps.rounds import Swept

_PAGE: Final = 100
"""Withdrawals of a claim, whose calls run concurrently."""


def run_once(*, now: dt.datetime, limit: int) -> Swept:
    """Process due withdrawals, up to `limit` at a time; counts the processed rows.

    Safe to run twice, concurrently or late: a claim moves the due time by a lease, and a withdrawal
    called again after a kill removes nothing more. Never: the messages stay on the devices.
    """
    del now  # each page has its own time
    return loops.repeat(functools.partial(_process, limit=min(_PAGE, limit)))


def _process(*, limit: int) -> Swept:
    rows = withdrawals.claim(now=clock.now(), limit=limit)
    withdrawal_calls.process(rows)
    return Swept(len(rows), more=len(rows) == limit)
