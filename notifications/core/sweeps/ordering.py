"""Ordering: publish heads of ordering queues after a lost publish, and delete unused keys."""

from __future__ import annotations

import datetime as dt
import functools

from django.db import transaction

from notifications.core.store.postgres import ordering_queues
from notifications.core.sweeps import loops
from notifications.core.sweeps.rounds import Swept


def run_once(*, now: dt.datetime, limit: int) -> Swept:
    """Check due ordering keys; counts the published deliveries. Safe at any time."""
    del now  # Postgres's clock decides
    done = loops.repeat(functools.partial(_advance, limit=limit))
    return done + Swept(ordering_queues.trim(limit=limit))


def _advance(*, limit: int) -> Swept:
    with transaction.atomic():
        looked, woken = ordering_queues.advance_due(limit=limit)
    return Swept(woken, more=looked >= limit)
