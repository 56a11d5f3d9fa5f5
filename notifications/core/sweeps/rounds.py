"""Rounds: process the due rows of all lanes in batches.

A round takes a batch of each lane, urgent lanes first; rounds repeat until no row is due or the
time is over. A batch is a transaction that locks rows and skips locked rows, so several `ops`
processes share a lane, and the next run takes the skipped rows.

An exception stops no other lane and no other row: a failing batch is halved until the failing rows
are alone. Failing rows are logged and counted, and wait for a minute, so that any number of them
leaves room for the rows behind. An error of the code, such as an unknown column, halves nothing.
"""

from __future__ import annotations

import datetime as dt
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Final, Protocol

import structlog
from django.db import InterfaceError, OperationalError, ProgrammingError, transaction

from notifications.core import broker, clock
from notifications.core.rules.lane import Lane
from notifications.core.rules.reasons import Reason
from notifications.core.rules.states import Status
from notifications.core.store.postgres import db, id_ranges
from notifications.core.store.postgres.id_ranges import Span

_log = structlog.get_logger(__name__)

Row = Mapping[str, Any]
"""A row of `due.sql`."""
Act = Callable[[Sequence[Any], Span], int]
"""Changes rows of a lane; returns the number of changed rows. Runs in the sweep's transaction."""

RETRY_GRACE: Final = dt.timedelta(seconds=5)
"""Time for which the sweep leaves a due row to its retry message."""
DATABASE_TROUBLE: Final = (OperationalError, InterfaceError)
"""Errors not caused by a row, such as a lock timeout or a lost connection: the lane waits."""
_OF_NO_ROW: Final = (*DATABASE_TROUBLE, ProgrammingError)
"""The same with errors of the code, such as an unknown column."""
NO_GRACE: Final = dt.timedelta(0)
MERGED: Final = [Reason.CAP, Reason.DIGEST, Reason.BATCH_WINDOW]
"""Reasons of holds that the feature `digests` merges."""
MERGED_FOR: Final = dt.timedelta(minutes=5)
"""Time that the sweep `release` leaves such a due row to the sweep `digests`."""
LOOKED_AT: Final = 5_000
"""Number of due rows of a lane, longest due first, that a query for a reason examines. The limit
bounds the cost of a query while many other rows are due."""
_FAILED_WAIT: Final = dt.timedelta(minutes=1)
"""Wait of a row for which a sweep raised an exception."""
SECONDS: Final = 0.8
"""Maximum seconds of a run: less than the interval, so that runs do not pile up in threads of
`ops`."""


@dataclass(frozen=True, slots=True)
class Swept:
    """The result of a run."""

    moved: int = 0
    """Number of changed or published rows."""
    failed: int = 0
    """Number of rows, lanes or schedules with an exception."""
    more: bool = False
    """True if the run ended by time with rows left."""

    def __add__(self, other: Swept) -> Swept:
        """Return the sum of two results."""
        return Swept(self.moved + other.moved, self.failed + other.failed, self.more or other.more)


class RunOnce(Protocol):
    """The function of a sweep."""

    def __call__(self, *, now: dt.datetime, limit: int) -> Swept:
        """Process batches of up to `limit` rows."""


@dataclass(frozen=True, slots=True)
class Due:
    """The selection of due rows for a sweep."""

    sweep: str
    status: Status
    limit: int
    """Rows in a batch."""
    grace: dt.timedelta = NO_GRACE
    """Time between a row's `due_at` and the sweep."""
    digests_after: dt.timedelta = NO_GRACE
    """The same for rows that the sweep `digests` takes first; of `due_for_release.sql` alone."""
    statement: str = "due"
    """The SQL file that reads and locks a batch."""


def deadline() -> float:
    """Return the end of a run that begins now, on the monotonic clock."""
    return clock.monotonic() + SECONDS


def work(due: Due, act: Act, *, ends_at: float | None = None) -> Swept:
    """Process due rows until `ends_at` (default: `deadline()`); at least a batch of each lane."""
    ends_at = deadline() if ends_at is None else ends_at
    done = Swept()
    for span in id_ranges.current():
        lanes = lanes_due(due.status, span, within=-due.grace)
        while lanes:
            full = []
            for lane in lanes:
                swept, is_full = _batch(due, lane, span, act)
                done += swept
                if is_full:
                    full.append(lane)
            is_over = clock.monotonic() >= ends_at
            lanes, done = ([], done + Swept(more=bool(full))) if is_over else (full, done)
    return done


def retry_grace() -> dt.timedelta:
    """Return the grace of retry messages; zero while the broker is away."""
    return RETRY_GRACE if broker.takes_messages() else NO_GRACE


def lanes_due(status: Status, span: Span, *, within: dt.timedelta) -> list[Lane]:
    """Return lanes with a row of the status that is due within a time, urgent lanes first."""
    parameters = {**id_ranges.LANE_COLUMNS, **span, "status": status, "within": within}
    return sorted(
        Lane.of(row["mode"], row["priority"], row["channel"])
        for row in db.rows("lanes_due", parameters)
    )


def _batch(due: Due, lane: Lane, span: Span, act: Act) -> tuple[Swept, bool]:
    """Process a batch of a lane; also returns True if the lane may have more rows."""
    try:
        with transaction.atomic():
            rows = db.rows(due.statement, _parameters(due, lane, span))
            swept = _act_on(due, rows, span, act)
    except _OF_NO_ROW as error:
        _log.warning("lane_not_swept", sweep=due.sweep, lane=lane.name, error=str(error))
        return Swept(failed=1), False
    return swept, len(rows) == due.limit and swept.moved > 0


def _act_on(due: Due, rows: Sequence[Row], span: Span, act: Act) -> Swept:
    if not rows:
        return Swept()
    try:
        with transaction.atomic():
            return Swept(moved=act(rows, span))
    except _OF_NO_ROW:
        raise
    except Exception as error:  # noqa: BLE001 - whatever a row causes, it must not stop the others
        if len(rows) == 1:
            _log.exception("row_not_swept", sweep=due.sweep, delivery_id=str(rows[0]["id"]))
            db.run("postpone", {**span, "id": rows[0]["id"], "wait": _FAILED_WAIT})
            return Swept(failed=1)
        _log.warning("batch_halved", sweep=due.sweep, rows=len(rows), error=type(error).__name__)
    half = len(rows) // 2
    return _act_on(due, rows[:half], span, act) + _act_on(due, rows[half:], span, act)


def _parameters(due: Due, lane: Lane, span: Span) -> dict[str, object]:
    return {
        **span,
        "status": due.status,
        "mode": lane.mode,
        "priority": lane.priority,
        "channel": lane.channel,
        "grace": due.grace,
        "merged": MERGED,
        "digests_after": due.digests_after,
        "looked_at": LOOKED_AT,
        "limit": due.limit,
    }
