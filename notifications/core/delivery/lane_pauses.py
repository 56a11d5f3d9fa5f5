"""Lane pauses: errors of the code stop a lane instead of its rows.

    a task raises an error    `note_failure` judges the error (`rules.suspects`): of the lane or
                              of the row
    a paused lane             each process claims one row a second; other rows stay due
    a claimed row passes      `note_success` resumes the lane

The pause is the open alert `lane_paused` (`store.cached.paused_lanes`), so all processes see the
pause within a second or two. The relay publishes one row a second of a paused lane. A pause without
a new failure ends with its alert after five minutes (`rules.alerts.RENEWED`). Rows expire meanwhile
(`sweeps.due_rows`).

Safe to run twice, late or never: a pause that is not stored lets the next task fail in the same
way.
"""

from __future__ import annotations

import threading
from collections import defaultdict
from collections.abc import Collection, Sequence
from typing import Final
from uuid import UUID

import structlog
from django.db import ProgrammingError

from notifications.core import clock
from notifications.core.rules.alerts import AlertKind
from notifications.core.rules.suspects import Failures, Verdict
from notifications.core.store.cached import paused_lanes
from notifications.core.store.postgres import alerts, publish

_log = structlog.get_logger(__name__)
_PROBE_EVERY: Final = 1.0
"""Seconds between two rows of a paused lane that a process claims."""
_LONGEST_DETAIL: Final = 200

_lock: Final = threading.Lock()
_failures: Final[defaultdict[str, Failures]] = defaultdict(Failures)
"""By lane; only lanes with a failure since their last success."""
_probed_at: Final[dict[str, float]] = {}


def admit(lane: str, delivery_ids: Sequence[UUID]) -> Sequence[UUID]:
    """Return the rows of a message that may be claimed now; rows left out become due at once."""
    free = admit_rows(lane, len(delivery_ids))
    if left := delivery_ids[free:]:
        publish.make_due(left)
    return delivery_ids[:free]


def admit_rows(lane: str, rows: int) -> int:
    """Return how many of `rows` due rows of a lane may be claimed now."""
    if lane not in paused_lanes.current():
        return rows
    return min(rows, 1) if _may_probe(lane) else 0


def _may_probe(lane: str) -> bool:
    with _lock:
        moment = clock.monotonic()
        if moment - _probed_at.get(lane, float("-inf")) < _PROBE_EVERY:
            return False
        _probed_at[lane] = moment
        return True


def note_failure(lane: str, error: Exception, delivery_ids: Collection[UUID]) -> Verdict:
    """Judge the error of a task, and pause the lane if the lane fails.

    Args:
        lane: the name of the lane.
        error: the error that the task raised.
        delivery_ids: the claimed rows; none if the claim itself failed.
    """
    with _lock:
        verdict = _failures[lane].judge(
            delivery_ids,
            is_code=isinstance(error, ProgrammingError),
            is_paused=lane in paused_lanes.current(),
        )
    if verdict is Verdict.LANE:
        alerts.raise_once(AlertKind.LANE_PAUSED, lane, _detail(error))
        paused_lanes.forget()
        _log.warning("lane_paused", lane=lane, error=type(error).__name__)
    return verdict


def note_success(lane: str) -> None:
    """Note a success of claimed rows; resume a paused lane."""
    if lane in _failures:
        _failures.pop(lane, None)
    if lane in paused_lanes.current():
        alerts.resolve(AlertKind.LANE_PAUSED, lane)
        paused_lanes.forget()
        _log.info("lane_resumed", lane=lane)


def forget() -> None:
    """Forget the failures and probes of this process."""
    _failures.clear()
    _probed_at.clear()
    paused_lanes.forget()


def _detail(error: Exception) -> str:
    """Return the kind of the error; only the database's words about code name no value of a row."""
    name = type(error).__name__
    if not isinstance(error, ProgrammingError):
        return f"the tasks of several rows raised {name}; the worker's log has the traceback"
    said = str(error).partition("\n")[0][:_LONGEST_DETAIL]
    return f"{name}: {said}"
