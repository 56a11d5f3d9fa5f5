"""Lane claims: a message of a P2 or P3 lane names no rows; the claim takes the rows that are due.

The rows leave in the order of the fair queue at the time of the claim. A message that is lost or
comes twice changes nothing: the rows stay due in Postgres until a claim takes them, and a claim
without due rows ends at once.
"""

from __future__ import annotations

import datetime as dt
from dataclasses import dataclass
from typing import Final

import structlog

from notifications.core.delivery import unclaimed
from notifications.core.delivery.unclaimed import Over
from notifications.core.rules import suspects
from notifications.core.rules.lane import Lane
from notifications.core.rules.reasons import Reason
from notifications.core.rules.states import Status
from notifications.core.store.postgres import claims, db, fair_queue, id_ranges
from notifications.core.store.postgres.claims import Claim
from notifications.core.store.postgres.id_ranges import Span

_log: Final = structlog.get_logger(__name__)


@dataclass(frozen=True, slots=True)
class LaneClaim:
    """A claim of due rows of a lane, which can be empty."""

    claim: Claim
    over: Over
    """Due rows that no claim may take."""
    leaves_rows: bool
    """The claim saw rows that it did not take: suspects (`rules.suspects`), or those of `over`."""

    def end_over(self) -> None:
        """End the rows of `over`; an error is logged, and the sweep `expiry` ends them later."""
        try:
            self.over.end()
        except Exception:  # noqa: BLE001 - any error: the claimed rows are delivered already
            _log.exception("rows_not_ended", count=len(self.over.expired | self.over.poison))


def claim(lane: Lane, span: Span, *, rows: int, now: dt.datetime) -> LaneClaim:
    """Claim up to `rows` due rows of a P2 or P3 lane.

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

    def take() -> tuple[LaneClaim, dt.datetime | None]:
        due = db.rows("lock_due", asked)
        failed = {each["id"] for each in due if each["reason"] == Reason.TASK_FAILED}
        over = unclaimed.find(due, may_be_over=failed)
        ends = over.poison | over.expired
        left = [each for each in due if each["id"] not in ends] if ends else due
        count = suspects.leading([
            (each["claims"], each["reason"] == Reason.TASK_FAILED) for each in left
        ])
        taken = claims.claim_locked([each["id"] for each in left[:count]], now=now)
        is_all = len(due) < rows and count == len(left)
        last = None if is_all else (left[:count] or due)[-1]["due_at"]
        return LaneClaim(taken, over, leaves_rows=count < len(due)), last

    made, last = db.in_transaction(take)
    if id_ranges.is_recent(span):
        fair_queue.note_taken(lane, last=last)
    return made
