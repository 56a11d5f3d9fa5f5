"""Lag refusals: new P3 posts are refused while the lag of their lane is over its limit.

Only posts of producers and steps of series are checked (`Caller.is_post`), and only deliveries that
would join the queue now: a scheduled notification meets the lag at its release. A repeat of an
accepted post gets its first answer. The state is the sample of the sweep `lane_lag`; without a
fresh sample every post is accepted.
"""

from __future__ import annotations

import datetime as dt
from collections.abc import Sequence

from notifications.rules.lane import Lane
from notifications.rules.problems import POSTED_AGAIN, Kind, Problem
from notifications.rules.states import Status
from notifications.store.cached import lane_lags
from notifications.store.postgres.inserts import NewDelivery
from notifications.telemetry import instruments


class AllRefused(Exception):
    """A lag or a ceiling refuses each item of a call; `problem` answers the call."""

    def __init__(self, problem: Problem) -> None:
        """Store the problem."""
        super().__init__(problem.detail)
        self.problem = problem


def refusal(deliveries: Sequence[NewDelivery]) -> Problem | None:
    """Return the problem if a lane of the new deliveries refuses posts; None: all accept."""
    for each in deliveries:
        if each.status == Status.QUEUED:
            lane = Lane.of(each.mode, each.priority, each.channel)
            wait = lane_lags.refuses(lane)
            if wait is not None:
                instruments.REFUSED_FOR_LAG.labels(lane.name).inc()
                return _problem(lane, wait)
    return None


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


def _problem(lane: Lane, wait: dt.timedelta) -> Problem:
    said = (
        f"too many P3 messages wait in the lane {lane.name}; post again in"
        f" {wait.total_seconds():.0f} s"
    )
    return Problem(Kind.LANE_BEHIND, said, (), wait)
