"""Lag refusals: new P3 posts are refused while the lag of their lane is over its limit.

Only posts of producers and steps of series are checked (`Plan.is_post`), and only deliveries that
would join the queue now: a scheduled notification meets the lag at its release. A repeat of an
accepted post gets its first answer. The state is the sample of the sweep `lane_lag`; without a
fresh sample every post is accepted.
"""

from __future__ import annotations

import datetime as dt
from collections.abc import Sequence

from notifications.core.intake.idempotency_keys import Entry
from notifications.core.intake.plan import Plan
from notifications.core.rules.lane import Lane
from notifications.core.rules.problems import Kind, Problem
from notifications.core.rules.states import Status
from notifications.core.store.postgres.inserts import NewDelivery
from notifications.core.telemetry import instruments
from notifications.features.back_pressure import refusing


def refuse(entries: list[Entry]) -> None:
    """Put a problem in place of each post with a lane that refuses posts."""
    for place, entry in enumerate(entries):
        if isinstance(entry, Plan) and entry.is_post and (problem := _refusal(entry.deliveries)):
            entries[place] = problem


def _refusal(deliveries: Sequence[NewDelivery]) -> Problem | None:
    for each in deliveries:
        if each.status == Status.QUEUED:
            lane = Lane.of(each.mode, each.priority, each.channel)
            wait = refusing.refuses(lane)
            if wait is not None:
                instruments.REFUSED_FOR_LAG.labels(lane.name).inc()
                return _problem(lane, wait)
    return None


def _problem(lane: Lane, wait: dt.timedelta) -> Problem:
    said = (
        f"too many P3 messages wait in the lane {lane.name}; post again in"
        f" {wait.total_seconds():.0f} s"
    )
    return Problem(Kind.LANE_BEHIND, said, (), wait)
