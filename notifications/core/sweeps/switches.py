"""Switches: after a resume, bring the rows forward that the switch held, P0 first.

The sweep `release` calls `end_holds` each second, because a further task each second would cost the
broker eight commands. Each call makes at most RAMP rows of P0 and P1 due, and at most RAMP other
rows of a switch, so a million rows of P2 and P3 come back over minutes. A feature can
release the rows of a kind of switch in its own way (`feature.Feature.releases`).

A worker can store a hold some seconds after the resume, from a claim before the resume. So a switch
stays open for the sweep for two minutes, longer than the longest lease.
"""

from __future__ import annotations

from typing import Final

from notifications.core import clock, feature
from notifications.core.models import Switch
from notifications.core.operations import switches as operations
from notifications.core.rules.lane import Priority
from notifications.core.rules.states import Status
from notifications.core.rules.switches import SETTLED_AFTER
from notifications.core.store.postgres import db, id_ranges
from notifications.core.sweeps import rounds
from notifications.core.sweeps.rounds import Swept

RAMP: Final = 5_000
"""P2 and P3 rows of a switch that are made due in a second; as many P0 and P1 rows come first."""


def end_holds() -> Swept:
    """Make rows of resumed switches due; counts the rows.

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
    return is_late and not operations.held_by([row])


def _end_holds_of(row: Switch) -> int:
    for each in feature.all_features():
        if name := each.releases.get(row.kind):
            moved: int = feature.import_function(name)(row, limit=RAMP, grace=rounds.retry_grace())
            return moved
    urgent = [each for each in Priority if each.is_urgent]
    patient = [each for each in Priority if not each.is_urgent]
    return _first(row, urgent) + _first(row, patient)


def _first(row: Switch, priorities: list[Priority]) -> int:
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
