"""Lane claims: a message of a P2 or P3 lane names no rows; the claim takes the rows that are due.

The rows leave in the order of the fair queue at the time of the claim. A message that is lost or
comes twice changes nothing: the rows stay due in Postgres until a claim takes them, and a claim
without due rows ends at once.
"""

from __future__ import annotations

import datetime as dt
from dataclasses import dataclass

from notifications.core.delivery import unclaimed
from notifications.core.delivery.unclaimed import Over
from notifications.core.rules import suspects
from notifications.core.rules.lane import Lane
from notifications.core.rules.reasons import Reason
from notifications.core.rules.states import Status
from notifications.core.store.postgres import claims, db, fair_queue, id_ranges
from notifications.core.store.postgres.claims import Claim
from notifications.core.store.postgres.id_ranges import Span


@dataclass(frozen=True, slots=True)
class LaneClaim:
    """The rows that a claim of a lane took; perhaps none."""

    claim: Claim
    leaves_rows: bool
    """The claim saw due rows that may not share a claim (`rules.suspects`), or rows that ended."""


def claim(lane: Lane, span: Span, *, rows: int, now: dt.datetime) -> LaneClaim:
    """Claim up to `rows` due rows of a P2 or P3 lane; end those that no claim may take.

    Args:
        lane: the lane.
        span: the range of the ids.
        rows: the most rows.
        now: the time of a claim that takes no row.

    Raises:
        OperationalError: the database failed. No row is claimed.
        ProgrammingError: as OperationalError.
    """
    asked = {**span, **lane.columns, "queued": Status.QUEUED, "rows": rows}

    def take() -> tuple[LaneClaim, Over, dt.datetime | None]:
        due = db.rows("lock_due", asked)
        failed = {each["id"] for each in due if each["reason"] == Reason.TASK_FAILED}
        over = unclaimed.find(due, may_be_over=failed)
        left = [each for each in due if each["id"] not in over.poison | over.expired]
        count = suspects.leading([(each["claims"], each["id"] in failed) for each in left])
        taken = claims.claim_locked([each["id"] for each in left[:count]], now=now)
        last = due[-1]["due_at"] if len(due) == rows else None
        return LaneClaim(taken, count < len(due)), over, last

    made, over, last = db.in_transaction(take)
    over.end()
    if id_ranges.is_recent(span):
        fair_queue.note_taken(lane, last=last)
    return made
