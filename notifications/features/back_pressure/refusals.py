"""Lag refusals: new P3 posts are refused while the lag of their lane is over its limit.

Only posts of producers and steps of series are checked (`Plan.is_post`), and only deliveries that
would join the queue now: a scheduled notification meets the lag at its release. A repeat of an
accepted post gets its first answer. The state is the sample of the sweep `lane_lag`; without a
fresh sample every post is accepted.
"""

from __future__ import annotations

import datetime as dt
from collections.abc import Mapping, Sequence

from notifications.core import clock
from notifications.core.intake.idempotency_keys import Entry
from notifications.core.intake.plan import Plan
from notifications.core.models import LaneLag
from notifications.core.rules import lane_lag
from notifications.core.rules.lane import Lane
from notifications.core.rules.problems import Kind, Problem
from notifications.core.rules.states import Status
from notifications.core.store.cached.ttl_cache import Fresh
from notifications.core.store.postgres.inserts import NewDelivery
from notifications.core.telemetry import instruments
from notifications.features.back_pressure import rules


def refuse(entries: list[Entry]) -> None:
    """Put a problem in place of posts in a refusing lane."""
    for place, entry in enumerate(entries):
        if isinstance(entry, Plan) and entry.is_post and (problem := _refusal(entry.deliveries)):
            entries[place] = problem


def _refusal(deliveries: Sequence[NewDelivery]) -> Problem | None:
    for each in deliveries:
        if each.status == Status.QUEUED:
            lane = Lane.of(each.mode, each.priority, each.channel)
            wait = refuses(lane)
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


@Fresh
def refusing() -> Mapping[Lane, int]:
    """Return the lanes that refuse new posts, with the seconds of Retry-After before the jitter.

    A lane with an old sample is left out: without the sweep `lane_lag` the lag is unknown, and
    posts are accepted.
    """
    since = clock.now() - rules.UNKNOWN_AFTER
    rows = LaneLag.objects.filter(refuses_since__isnull=False, sampled_at__gt=since)
    return {
        Lane.of(row.mode, row.priority, row.channel): row.retry_after_seconds
        for row in rows.only("mode", "priority", "channel", "retry_after_seconds")
    }


def refuses(lane: Lane) -> dt.timedelta | None:
    """Return Retry-After if new posts to the lane are refused now, with jitter; None: accepted."""
    if not lane_lag.is_limited(lane):
        return None
    seconds = refusing().get(lane)
    return None if seconds is None else rules.with_jitter(seconds, chance=clock.jitter())


forget = refusing.forget
