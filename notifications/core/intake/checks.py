"""Checks of new plans that need more than the request: a refusal, or a count before the rows.

    ACCEPT    the checks, in order: each refuses some of the new plans of a list
    Undo      takes the counts of a check back, because the rows were not stored

Only posts of producers and steps of series are checked (`Plan.is_post`). A refused post stores
nothing, so its idempotency key is free for the next try.
"""

from __future__ import annotations

import datetime as dt
from collections.abc import Callable, Sequence
from typing import Final

from notifications.core.gate import Place, function_at
from notifications.core.intake.attachments import GONE, FilesGone
from notifications.core.intake.idempotency_keys import Entry
from notifications.core.intake.plan import Plan
from notifications.core.rules.problems import POSTED_AGAIN, Problem

Undo = Callable[[], None]
Check = Callable[[list[Entry]], Undo | None]
"""Puts problems in place of refused plans; returns None if nothing was counted."""

ACCEPT: Final[Sequence[Check]] = (
    *function_at(Place.LANE_LAG_OF_POSTS),
    *function_at(Place.SMS_CEILING_OF_POSTS),
)
"""The checks, in the order of the calls. A check that counts comes last: a refusal of a later check
would leave its counts."""


class AllRefused(Exception):
    """Each item of a call is refused for a time; `problem` answers the call."""

    def __init__(self, problem: Problem) -> None:
        """Store the problem."""
        super().__init__(problem.detail)
        self.problem = problem


def refuse(entries: Sequence[Entry]) -> tuple[list[Entry], list[Undo]]:
    """Put problems in place of refused plans; also returns what takes counts back."""
    checked = list(entries)
    undos = [undo for check in ACCEPT if (undo := check(checked)) is not None]
    return checked, undos


def refuse_gone(entries: list[Entry], gone: FilesGone) -> None:
    """Refuse plans with files or recipients that were deleted after the checks."""
    for place, each in enumerate(entries):
        if isinstance(each, Plan) and not gone.uses.isdisjoint(each.files):
            entries[place] = GONE


def of_all(problems: Sequence[object]) -> Problem | None:
    """Return the problem with the longest wait if each of the problems ends with time."""
    refused = [each for each in problems if isinstance(each, Problem) and each.kind in POSTED_AGAIN]
    if not refused or len(refused) < len(problems):
        return None
    return max(refused, key=lambda each: each.retry_after or dt.timedelta())


def raise_if_all(plans: Sequence[object]) -> None:
    """Refuse a call whose items are all refused for a time.

    The call stores no answer under its idempotency key, so a repeat after Retry-After is new.

    Raises:
        AllRefused: each item is refused for a time.
    """
    if problem := of_all(plans):
        raise AllRefused(problem)
