"""Partitions: create partitions for two weeks ahead; the sweep `archive` drops old partitions."""

from __future__ import annotations

import datetime as dt

from notifications.core.store.postgres import partitions
from notifications.core.sweeps.rounds import Swept


def run_once(*, now: dt.datetime, limit: int) -> Swept:
    """Create missing days. Safe to run twice, late or in concurrent processes."""
    del limit  # two weeks at most
    return Swept(moved=partitions.ensure(now.date()))
