"""Digests: rows that a cap held and that are due, as one message for each person.

A row whose like waits too becomes part of a digest (`scheduling.digests`); the others are queued as
they are. The release sweep leaves rows of caps to this sweep for LEFT_FOR, so that a digest that is
late or switched off delays them and loses none.
"""

from __future__ import annotations

import datetime as dt
from collections.abc import Sequence
from typing import Any, Final

from notifications.rules.reasons import Reason
from notifications.rules.states import Status
from notifications.rules.transitions import RELEASE
from notifications.scheduling import digests, release
from notifications.store.postgres import locks
from notifications.store.postgres.id_ranges import Span
from notifications.sweeps import rounds
from notifications.sweeps.rounds import Due, Swept

LEFT_FOR: Final = dt.timedelta(minutes=5)
"""How long after their time rows of caps are left to this sweep."""


def run_once(*, now: dt.datetime, limit: int) -> Swept:
    """Merge or queue all rows of caps that are due, batch by batch.

    Safe to run twice and beside the release sweep: a row is moved once, under its lock.
    """
    del now  # Postgres's clock decides what is due
    return rounds.work(due(limit, grace=rounds.retry_grace()), merge_rows)


def due(limit: int, *, grace: dt.timedelta = rounds.NO_GRACE) -> Due:
    """The rows that the sweep takes."""
    return Due("digests", Status.SCHEDULED, limit, grace=grace, statement="due_by_caps")


def merge_rows(rows: Sequence[dict[str, Any]], span: Span) -> int:
    """Merge or queue rows of `due_by_caps.sql`; returns how many moved.

    One run of a channel at a time: a digest takes rows of its person from other batches and other
    lanes too, and two runs would wait for each other's rows.
    """
    if not locks.try_for_transaction(f"digests {rows[0]['mode']} {rows[0]['channel']}"):
        return 0
    merged = digests.merge(rows, bounds=span)
    left = [row for row in rows if row["id"] not in merged]
    return len(merged) + release.back_to_queue(left, RELEASE, reason=Reason.HOLD_OVER)
