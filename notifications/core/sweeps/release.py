"""Release: queue due scheduled notifications, rows at the end of their hold, and next channels.

The end of a confirm window opens the next channel of a fallback chain (`delivery.confirm`). After
the resume of a switch, its held rows are made due (`switches`), and so are the rows of a recipient
whose settings changed (`hold_checks`).

A scheduled notification gets its contacts now; a held row has a contact. Rows held by a frequency
cap or for a digest are left to the sweep `digests` first, if its feature is installed.
"""

from __future__ import annotations

import datetime as dt
from collections.abc import Sequence
from typing import Any

from notifications.core import gate
from notifications.core.gate import Place
from notifications.core.rules.reasons import Reason
from notifications.core.rules.states import Status
from notifications.core.rules.transitions import RELEASE
from notifications.core.scheduling import lifetimes, release
from notifications.core.store.postgres.id_ranges import Span
from notifications.core.sweeps import due_rows, hold_checks, rounds, switches
from notifications.core.sweeps.rounds import Due, Swept


def run_once(*, now: dt.datetime, limit: int) -> Swept:
    """Release all due rows, in batches.

    For some seconds a held row is left to its own message, as a retry is; a schedule has no
    message.
    """
    del now  # Postgres's clock decides what is due
    held = Due(
        "release",
        Status.SCHEDULED,
        limit,
        grace=rounds.retry_grace(),
        digests_after=_digests_after(),
    )
    scheduled = Due("release", Status.SCHEDULED, limit, digests_after=_digests_after())
    ends_at = rounds.deadline()
    done = switches.end_holds() + hold_checks.end_holds(ends_at=ends_at)
    done += due_rows.end_confirm_windows(limit=limit, ends_at=ends_at)
    done += rounds.work(scheduled, _resolve, ends_at=ends_at)
    return done + rounds.work(held, release_rows, ends_at=ends_at)


def _digests_after() -> dt.timedelta:
    return rounds.MERGED_FOR if gate.is_taken(Place.DIGEST) else rounds.NO_GRACE


def release_rows(rows: Sequence[dict[str, Any]], span: Span) -> int:
    """Release rows of `due.sql`; returns the number of changed and new rows."""
    held = [row for row in rows if row["contact_id"] is not None]
    lifetimes.extend(held, span)
    return release.requeue(held, RELEASE, reason=Reason.HOLD_OVER) + _resolve(rows, span)


def _resolve(rows: Sequence[dict[str, Any]], _span: Span) -> int:
    return release.resolve([row for row in rows if row["contact_id"] is None])
