"""Release: queue due scheduled notifications, rows at the end of their hold, and next channels.

The end of a confirm window opens the next channel of a fallback chain (`delivery.confirm`). After
the resume of a switch, its held rows are made due (`end_switch_holds`), and so are the rows of a
recipient with changed settings (`hold_checks`).

A scheduled notification gets its contacts now; a held row has a contact. Rows held by a frequency
cap or for a digest are left to the sweep `digests` first, if its feature is installed.
"""

from __future__ import annotations

import datetime as dt
from collections.abc import Sequence
from typing import Any, Final

from notifications.core import clock, feature, gate
from notifications.core.gate import Place
from notifications.core.models import Switch
from notifications.core.operations import switches as operations
from notifications.core.rules.lane import Priority
from notifications.core.rules.reasons import Reason
from notifications.core.rules.states import Status
from notifications.core.rules.switches import SETTLED_AFTER
from notifications.core.rules.transitions import RELEASE
from notifications.core.scheduling import lifetimes, release
from notifications.core.store.postgres import db, id_ranges
from notifications.core.store.postgres.id_ranges import Span
from notifications.core.sweeps import due_rows, hold_checks, rounds
from notifications.core.sweeps.rounds import Due, Swept

_STATEMENT: Final = "due_for_release"
RAMP: Final = 5_000
"""P2 and P3 rows of a switch that are made due in a second; as many P0 and P1 rows come first."""


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
        statement=_STATEMENT,
    )
    scheduled = Due(
        "release",
        Status.SCHEDULED,
        limit,
        digests_after=_digests_after(),
        statement=_STATEMENT,
    )
    ends_at = rounds.deadline()
    done = end_switch_holds() + hold_checks.end_holds(ends_at=ends_at)
    done += due_rows.end_confirm_windows(limit=limit, ends_at=ends_at)
    done += rounds.work(scheduled, _resolve, ends_at=ends_at)
    return done + rounds.work(held, release_rows, ends_at=ends_at)


def _digests_after() -> dt.timedelta:
    return rounds.MERGED_FOR if gate.is_taken(Place.DIGEST) else rounds.NO_GRACE


def release_rows(rows: Sequence[dict[str, Any]], span: Span) -> int:
    """Release rows of `due_for_release.sql`; returns the number of changed and new rows."""
    held = [row for row in rows if row["contact_id"] is not None]
    lifetimes.extend(held, span)
    return release.requeue(held, RELEASE, reason=Reason.HOLD_OVER) + _resolve(rows, span)


def _resolve(rows: Sequence[dict[str, Any]], _span: Span) -> int:
    return release.resolve([row for row in rows if row["contact_id"] is None])


def end_switch_holds() -> Swept:
    """Make rows of resumed switches due; counts the rows.

    The sweep `release` calls the function each second, because a further task each second would
    cost the broker eight commands. A million rows of P2 and P3 come back over minutes: each call
    makes at most RAMP rows of P0 and P1 due, and at most RAMP other rows of a switch. A feature can
    release the rows of a kind of switch in its own way (`feature.Feature.releases`).

    A worker can store a hold some seconds after the resume, from a claim before the resume. So a
    switch stays open for the sweep for two minutes, longer than the longest lease.

    Safe to run twice, concurrently or late: a row is made due once, locked rows are skipped until
    the next run, and without any run the rows come due at their time to live.
    """
    done = Swept()
    for row in Switch.objects.filter(resumed_at__isnull=False, released_at=None).order_by("id"):
        moved = _end_holds_of(row)
        done += Swept(moved)
        if not moved and _is_settled(row):
            Switch.objects.filter(pk=row.pk, released_at=None).update(released_at=clock.now())
    if done.moved:
        id_ranges.forget()  # a row of an older day is due now
    return done


def _is_settled(row: Switch) -> bool:
    """Return True if no row waits, not even a row that another transaction locks."""
    is_late = row.resumed_at is not None and clock.now() - row.resumed_at > SETTLED_AFTER
    return is_late and not operations.by_switch([row])


def _end_holds_of(row: Switch) -> int:
    for each in feature.all_features():
        if name := each.releases.get(row.kind):
            moved: int = feature.import_function(name)(row, limit=RAMP, grace=rounds.retry_grace())
            return moved
    urgent = [each for each in Priority if each.is_urgent]
    patient = [each for each in Priority if not each.is_urgent]
    return _first_rows(row, urgent) + _first_rows(row, patient)


def _first_rows(row: Switch, priorities: list[Priority]) -> int:
    """Make up to RAMP rows of these priorities due, in their order; returns the number."""
    moved = 0
    for priority in priorities:
        if moved < RAMP:
            parameters = {
                "scheduled": Status.SCHEDULED,
                "switch": row.pk,
                "priority": priority,
                "limit": RAMP - moved,
                "grace": rounds.retry_grace(),
            }
            moved += len(db.fetch_in_own_transaction("end_switch_holds", parameters))
    return moved
