"""Digests: merge due rows held by a frequency cap or a digest choice, for each recipient.

Rows of the same recipient, type and channel are merged (`features.digests.merge`); single rows are
queued unchanged. The release sweep leaves such rows to this sweep for `rounds.MERGED_FOR`, so a
late or disabled digest sweep delays rows and loses none.
"""

from __future__ import annotations

import datetime as dt
from collections.abc import Sequence
from typing import Any

from notifications.core.rules.reasons import Reason
from notifications.core.rules.states import Status
from notifications.core.rules.transitions import RELEASE
from notifications.core.scheduling import lifetimes, release
from notifications.core.store.postgres import locks
from notifications.core.store.postgres.id_ranges import Span
from notifications.core.sweeps import rounds
from notifications.core.sweeps.rounds import Due, Swept
from notifications.features.digests import merge


def run_once(*, now: dt.datetime, limit: int) -> Swept:
    """Merge or queue all due rows held by a cap or a digest choice, in batches.

    Safe to run twice and beside the release sweep: a row is moved once, under a lock.
    """
    del now  # Postgres's clock decides what is due
    return rounds.work(due(limit, grace=rounds.retry_grace()), merge_rows)


def due(limit: int, *, grace: dt.timedelta = rounds.NO_GRACE) -> Due:
    """Return the rows to take."""
    return Due("digests", Status.SCHEDULED, limit, grace=grace, statement="due_for_digests")


def merge_rows(rows: Sequence[dict[str, Any]], span: Span) -> int:
    """Merge or queue rows of `due_for_digests.sql`; returns the number of changed rows.

    Runs for a channel are serialised: a digest takes rows of its recipient from other batches and
    lanes, and concurrent runs would wait for locks.
    """
    if not locks.try_for_transaction(f"digests {rows[0]['mode']} {rows[0]['channel']}"):
        return 0
    merged = merge.merge(rows, bounds=span)
    left = [row for row in rows if row["id"] not in merged]
    lifetimes.extend(left, span)
    return len(merged) + release.requeue(left, RELEASE, reason=Reason.HOLD_OVER)
