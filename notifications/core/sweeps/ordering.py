"""Ordering: publish heads of ordering queues after a lost publish, and delete unused keys."""

from __future__ import annotations

import datetime as dt

from django.db import transaction

from notifications.core import clock
from notifications.core.store.postgres import ordering_queues
from notifications.core.sweeps import rounds
from notifications.core.sweeps.rounds import Swept


def run_once(*, now: dt.datetime, limit: int) -> Swept:
    """Check due ordering keys; counts the published deliveries. Safe at any time."""
    del now  # Postgres's clock decides
    ends_at = rounds.deadline()
    done = Swept()
    while True:
        with transaction.atomic():
            looked, woken = ordering_queues.advance_due(limit=limit)
        done += Swept(woken)
        if looked < limit or clock.monotonic() > ends_at:
            break
    return done + Swept(ordering_queues.trim(limit=limit))
