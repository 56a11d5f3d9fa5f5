"""Back-pressure: refuse new P3 posts and drop stale P3 while the lane is over the limits.

    each run   sample of all lanes -> refuse or accept new P3 posts -> drop stale P3

The sweep replaces the sweep `lane_lag` of the core, which takes the sample alone. Safe to run twice
(a sample replaces the last sample), late or never: with an old sample posts are accepted
(`rules.UNKNOWN_AFTER`).
"""

from __future__ import annotations

import datetime as dt
from typing import Final

from notifications.core.figures.questions import Question, ask
from notifications.core.models import LaneLag
from notifications.core.rules.alerts import AlertKind
from notifications.core.rules.lane import Priority
from notifications.core.rules.lane_lag import is_limited
from notifications.core.rules.rollups import Dimension
from notifications.core.store.postgres import alerts, lane_lag
from notifications.core.sweeps import lane_lag as sample_sweep
from notifications.core.sweeps.rounds import Swept
from notifications.features.back_pressure import rules, stale
from notifications.features.back_pressure.models import LagLimits
from notifications.features.back_pressure.rules import Limits
from providers.contract import Channel

_RATE_OVER: Final = dt.timedelta(minutes=5)


def run_once(*, now: dt.datetime, limit: int) -> Swept:
    """Sample the lag, then refuse posts and drop stale deliveries; counts the dropped ones."""
    done, limits_of = Swept(), limits_by_channel()
    for row in sample_sweep.sample(now=now):
        if is_limited(lane_lag.lane_of(row)):
            own = limits_of[Channel(row.channel)]
            _refuse_or_accept(row, own, now=now)
            done += stale.drop(row, own, now=now, limit=limit)
    return done


def _refuse_or_accept(row: LaneLag, limits: Limits, *, now: dt.datetime) -> None:
    """Set or end the refusal of new posts, with its alert."""
    behind = lane_lag.behind_of(row)
    refused_before = row.refuses_since is not None
    refuses = rules.refuses(
        limits, waiting=row.waiting, behind=behind, refused_before=refused_before
    )
    name = lane_lag.lane_of(row).name
    if refuses:
        rate = _rate(Channel(row.channel), now=now)
        wait = rules.wait(limits, waiting=row.waiting, behind=behind, per_second=rate)
        row.refuses_since = row.refuses_since or now
        row.retry_after_seconds = int(wait.total_seconds())
        detail = (
            f"{row.waiting:,} wait, the oldest for {behind.total_seconds() / 60:.0f} min;"
            f" {rate:.0f}/s leave; limits: {limits.refuse_waiting:,} and"
            f" {limits.refuse_behind.total_seconds() / 60:.0f} min"
        )
        alerts.raise_once(AlertKind.LANE_REFUSES_POSTS, name, detail)
    elif refused_before:
        row.refuses_since, row.retry_after_seconds = None, 0
        alerts.resolve(AlertKind.LANE_REFUSES_POSTS, name)
    if refuses or refused_before:
        row.save(update_fields=["refuses_since", "retry_after_seconds"])


def _rate(channel: Channel, *, now: dt.datetime) -> float:
    """Return the P3 deliveries of a channel sent in a second lately."""
    only: dict[Dimension, int | str] = {
        Dimension.PRIORITY: int(Priority.P3),
        Dimension.CHANNEL: int(channel),
    }
    question = Question(metric="sent", start=now - _RATE_OVER, end=now, filters=only, now=now)
    sent = sum(group.total or 0 for group in ask(question).groups)
    return sent / _RATE_OVER.total_seconds()


def limits_by_channel() -> dict[Channel, Limits]:
    """Return the limits of the P3 lane of each channel."""
    edited = {Channel(row.channel): _limits_of(row) for row in LagLimits.objects.all()}
    return {channel: edited.get(channel, rules.DEFAULTS) for channel in Channel}


def _limits_of(row: LagLimits) -> Limits:
    return Limits(
        refuse_waiting=row.refuse_waiting,
        refuse_behind=dt.timedelta(seconds=row.refuse_behind_seconds),
        drop_waiting=row.drop_waiting,
        drop_behind=dt.timedelta(seconds=row.drop_behind_seconds),
        drop_older=dt.timedelta(seconds=row.drop_older_seconds),
    )
