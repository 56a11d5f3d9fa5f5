"""Lane lag: sample the lag of each lane, and set the effects of back-pressure.

    each run   sample of all lanes -> refuse or accept new P3 posts -> drop stale P3 -> alerts
               breakers of the SMS providers -> pause or resume P3 SMS

Safe to run twice (a sample replaces the last one), late or never: an old sample says nothing, so
posts are accepted (`rules.back_pressure.UNKNOWN_AFTER`).
"""

from __future__ import annotations

import datetime as dt
from collections.abc import Iterable, Mapping
from typing import Final

from notifications.analytics.questions import Question, ask
from notifications.models import LaneLag
from notifications.rules import back_pressure
from notifications.rules.alerts import AlertKind
from notifications.rules.back_pressure import Limits
from notifications.rules.lane import Lane, Priority
from notifications.rules.rollups import Dimension
from notifications.store.postgres import alerts, lane_lag
from notifications.sweeps import sms_outage, stale
from notifications.sweeps.rounds import Swept
from providers.contract import Channel

_RATE_OVER: Final = dt.timedelta(minutes=5)


def run_once(*, now: dt.datetime, limit: int) -> Swept:
    """Sample the lag, then refuse posts and drop stale deliveries; counts the dropped ones."""
    sms_outage.pause_or_resume()
    rows = lane_lag.sample(now=now)
    limits = lane_lag.limits()
    limited = [row for row in rows if back_pressure.is_limited(lane_lag.lane_of(row))]
    done = Swept()
    for row in limited:
        _refuse_or_accept(row, limits[Channel(row.channel)], now=now)
        done += stale.drop(row, limits[Channel(row.channel)], now=now, limit=limit)
    _look_at_priorities(rows)
    return done


def _refuse_or_accept(row: LaneLag, limits: Limits, *, now: dt.datetime) -> None:
    """Set or end the refusal of new posts, with its alert."""
    behind = lane_lag.behind_of(row)
    refused_before = row.refuses_since is not None
    refuses = back_pressure.refuses(
        limits, waiting=row.waiting, behind=behind, refused_before=refused_before
    )
    name = lane_lag.lane_of(row).name
    if refuses:
        rate = _rate(Channel(row.channel), now=now)
        wait = back_pressure.wait(limits, waiting=row.waiting, behind=behind, per_second=rate)
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
    """Return the P3 deliveries of a channel that were sent in a second lately."""
    only: dict[Dimension, int | str] = {
        Dimension.PRIORITY: int(Priority.P3),
        Dimension.CHANNEL: int(channel),
    }
    question = Question(metric="sent", start=now - _RATE_OVER, end=now, filters=only, now=now)
    sent = sum(group.total or 0 for group in ask(question).groups)
    return sent / _RATE_OVER.total_seconds()


def _look_at_priorities(rows: Iterable[LaneLag]) -> None:
    """Raise the alerts about the lag of a priority, and resolve them well under the limits."""
    waiting: Mapping[Lane, int] = {lane_lag.lane_of(row): row.waiting for row in rows}
    lags = back_pressure.by_priority(waiting)
    for priority, processes in back_pressure.workers_wanted(waiting).items():
        detail = f"{lags[priority]:,} wait; {processes} worker processes are recommended"
        size = back_pressure.SCALE_WAITING
        _compare(AlertKind.WORKERS_WANTED, priority, lags[priority], size, detail)
    for priority, size in back_pressure.SIZES.items():
        detail = f"{lags[priority]:,} wait; planned for {size:,}"
        _compare(AlertKind.QUEUE_OVERSIZED, priority, lags[priority], size, detail)


def _compare(kind: AlertKind, priority: Priority, lag: int, most: int, detail: str) -> None:
    if lag > most:
        alerts.raise_once(kind, priority.name, detail)
    elif lag <= most * back_pressure.END_SHARE:
        alerts.resolve(kind, priority.name)
