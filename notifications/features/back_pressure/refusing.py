"""The P3 lanes that refuse new posts, read once a second per process."""

from __future__ import annotations

import datetime as dt
from collections.abc import Mapping

from notifications.core import clock
from notifications.core.models import LaneLag
from notifications.core.rules import lane_lag
from notifications.core.rules.lane import Lane
from notifications.core.store.cached.ttl_cache import Fresh
from notifications.features.back_pressure import rules


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
