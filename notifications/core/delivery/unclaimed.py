"""Unclaimed: end queued rows that no claim takes or will take in time.

    five claims without a result    a dead letter `poison`; in a fallback chain the next channel
    time to live over               `expired`, as by the gate of a claim: caps are refunded and
                                    sensitive variables are wiped; the sweep `ordering` goes on

A worker looks at the time to live only behind a claim. A paused lane, a lane without a worker and a
row that no claim takes therefore need this second way. Only `queued` rows are concerned: due rows
of other waiting statuses become `queued` first. A row that a worker claims meanwhile stays with the
worker. Safe to run twice, late or never.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping
from typing import Any, Final, NamedTuple
from uuid import UUID

from notifications.core.delivery import fall_back
from notifications.core.rules.ids import notification_of
from notifications.core.rules.reasons import Reason
from notifications.core.rules.suspects import POISON_AFTER
from notifications.core.rules.transitions import (
    EXPIRE_UNCLAIMED,
    FALL_BACK_QUEUED,
    GIVE_UP_UNCLAIMED,
    Transition,
)
from notifications.core.store.postgres import db, id_ranges, secret_variables, transitions
from notifications.core.store.postgres.transitions import ANYONE, Move
from notifications.core.store.rate_limits import frequency_caps

FIVE_CLAIMS: Final = "five claims ended without a result"
"""Detail of a dead letter."""


class Over(NamedTuple):
    """Queued rows that no claim takes."""

    expired: set[UUID]
    poison: set[UUID]

    def end(self) -> set[UUID]:
        """End the rows, outside a transaction that has locked one of them; return the ids.

        The end of a member of a fallback chain locks the notification before the row.
        """
        expire(self.expired)
        give_up(self.poison, detail=FIVE_CLAIMS)
        return self.expired | self.poison


def find(rows: Iterable[Mapping[str, Any]], *, may_be_over: Collection[UUID]) -> Over:
    """Return the rows that no claim takes.

    Args:
        rows: queued rows with `id` and `claims`.
        may_be_over: the rows whose time to live is checked.
    """
    poison = {row["id"] for row in rows if row["claims"] >= POISON_AFTER}
    expired = find_expired(may_be_over)
    return Over(expired, poison - expired)


def find_expired(delivery_ids: Collection[UUID]) -> set[UUID]:
    """Return the deliveries past the time to live."""
    if not delivery_ids:
        return set()
    asked = {**id_ranges.around(delivery_ids), "ids": sorted(delivery_ids)}
    return {row["id"] for row in db.rows("expired_of", asked)}


def expire(delivery_ids: Collection[UUID], *, detail: str = "") -> int:
    """Expire queued rows past the time to live; return the number."""
    moves = [Move(id=each, reason=Reason.TTL_PASSED, detail=detail) for each in delivery_ids]
    moved = db.in_transaction(lambda: _apply(EXPIRE_UNCLAIMED, moves))
    secret_variables.wipe({notification_of(each) for each in moved})
    return len(moved)


def give_up(delivery_ids: Collection[UUID], *, detail: str) -> int:
    """End queued rows as dead letters `poison`, or open their next channel; return how many."""
    if not delivery_ids:
        return 0

    def work() -> list[UUID]:
        plan = fall_back.plan(delivery_ids)
        onward = [each for each in delivery_ids if plan.replaces(each)]
        ends = [each for each in delivery_ids if not plan.replaces(each)]
        escalated = [Move(id=each, reason=Reason.ESCALATED, detail=detail) for each in onward]
        given_up = [Move(id=each, reason=Reason.POISON, detail=detail) for each in ends]
        moved = _apply(FALL_BACK_QUEUED, escalated) + _apply(GIVE_UP_UNCLAIMED, given_up)
        fall_back.carry_out(plan, moved)
        return moved

    return len(db.in_transaction(work))


def _apply(transition: Transition, moves: Iterable[Move]) -> list[UUID]:
    moved = transitions.apply(transition, moves, ANYONE)
    frequency_caps.refund_after_commit(moved)
    return moved
