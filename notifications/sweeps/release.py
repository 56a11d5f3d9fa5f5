"""Release: scheduled notifications whose time has come, and rows whose hold is over.

A scheduled notification gets its contacts now; a held row has its contact and goes back to the
queue; of rows that a cap held for one person, a digest takes the place.
"""

from __future__ import annotations

import datetime as dt
from collections.abc import Sequence
from typing import Any

from notifications.pipeline import digest, release
from notifications.rules.reasons import Reason
from notifications.rules.states import Status
from notifications.rules.transitions import RELEASE
from notifications.store.spans import Span
from notifications.sweeps import rounds
from notifications.sweeps.rounds import Due, Swept


def run_once(*, now: dt.datetime, limit: int) -> Swept:
    """Release all that is due, batch by batch.

    A hold is left to its own message for some seconds, as a retry is; a schedule has none.
    """
    del now  # Postgres's clock decides what is due
    held = Due("release", Status.SCHEDULED, limit, grace=rounds.retry_grace())
    scheduled = Due("release", Status.SCHEDULED, limit)
    ends_at = rounds.deadline()
    done = rounds.work(scheduled, _resolve, ends_at=ends_at)
    return done + rounds.work(held, release_rows, ends_at=ends_at)


def release_rows(rows: Sequence[dict[str, Any]], span: Span) -> int:
    """Release rows of `due.sql`; returns how many rows moved or were made."""
    held = [row for row in rows if row["contact_id"] is not None]
    merged = digest.merge(held, bounds=span)
    held = [row for row in held if row["id"] not in merged]
    moved = release.back_to_queue(held, RELEASE, reason=Reason.HOLD_OVER)
    return moved + len(merged) + _resolve(rows, span)


def _resolve(rows: Sequence[dict[str, Any]], _span: Span) -> int:
    return release.resolve([row for row in rows if row["contact_id"] is None])
