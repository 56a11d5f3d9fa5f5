"""Suspects: rows with claims that did not end, the isolation of a fatal row, and failed lanes.

A claim counts if the worker died, or if the task raised an error for the row alone; every other end
keeps or resets the count. In a message with 500 rows a single row can kill the worker, so the
messages shrink with the number of deaths:

    claims  0, 1, 2    up to 500 rows per message
            3          up to 25
            4          a single row
            5          a dead letter, `poison`

An error that a task raises is judged (`Failures.judge`):

    error of the code          the lane is paused: no row can cause the error
    several rows in a message  each row goes alone; no claim counts
    SEVERAL rows, each alone   no row has passed since: the lane is paused; no claim counts
    one row alone              its claim counts
"""

from __future__ import annotations

import datetime as dt
from collections.abc import Collection, Iterable
from enum import Enum
from typing import Final
from uuid import UUID

SMALL_AFTER: Final = 3
"""Deaths after which a row shares its message with few others."""
SMALL: Final = 25
"""Rows of such a message: about the root of 500, so that both steps of the search cost the same."""
ALONE_AFTER: Final = 4
"""Deaths after which a row goes alone."""
POISON_AFTER: Final = 5
"""Deaths after which a row is a dead letter."""
SEVERAL: Final = 3
"""Different rows that fail alone, without a success between them, before their lane is paused."""
_ANY: Final = 500
_WAITS: Final = tuple(dt.timedelta(seconds=each) for each in (5, 10, 20, 40))


def most_together(claims: int, *, has_failed: bool = False) -> int:
    """Return how many rows may share a message with a row.

    Args:
        claims: the row's claims without a result.
        has_failed: True if the last task with the row raised an error.
    """
    if has_failed or claims >= ALONE_AFTER:
        return 1
    return SMALL if claims >= SMALL_AFTER else _ANY


def leading(rows: Iterable[tuple[int, bool]]) -> int:
    """Return how many of the first rows may share a claim; at least one if there are rows.

    Args:
        rows: for each row, in order, `claims` and `has_failed` of `most_together`.
    """
    count, most = 0, _ANY
    for claims, has_failed in rows:
        if has_failed or claims >= SMALL_AFTER:
            most = min(most, most_together(claims, has_failed=has_failed))
        if count >= most:
            break
        count += 1
    return count


def wait(claims: int) -> dt.timedelta:
    """Return the wait of a suspect: 5, 10, 20 and 40 s, so that a short fault makes no poison."""
    return _WAITS[min(claims, len(_WAITS)) - 1]


class Verdict(Enum):
    """The meaning of an error that a task raised."""

    LANE = "lane"
    """The lane fails, whatever the row."""
    TOGETHER = "together"
    """One of several rows may be the cause: each row goes alone."""
    SUSPECT = "suspect"
    """The row may be the cause."""


class Failures:
    """The rows of a lane that failed alone since the last success, in one process."""

    def __init__(self) -> None:
        self._alone: set[UUID] = set()

    def judge(self, delivery_ids: Collection[UUID], *, is_code: bool, is_paused: bool) -> Verdict:
        """Judge the error of a task.

        Args:
            delivery_ids: the claimed rows.
            is_code: True if no row can cause the error, such as an unknown column.
            is_paused: True if the lane is paused.
        """
        if is_code or is_paused:
            return Verdict.LANE
        if len(delivery_ids) > 1:
            return Verdict.TOGETHER
        self._alone.update(delivery_ids)
        return Verdict.LANE if len(self._alone) >= SEVERAL else Verdict.SUSPECT
