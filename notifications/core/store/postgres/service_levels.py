"""Figures of service levels: from the roll-ups, from samples of the backlog, and from due rows.

Windows up to an hour read minutes, longer windows read hours; a window of hours begins with a whole
hour.
"""

from __future__ import annotations

import datetime as dt
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any, Final, Literal

from django.db.models import Avg, Count, StdDev

from notifications.core.models import BacklogSample
from notifications.core.rules import ids, rollups
from notifications.core.rules.lane import Mode, Priority
from notifications.core.rules.reasons import Reason
from notifications.core.rules.request import MAX_TTL
from notifications.core.rules.rollups import Cube, DimensionSet, Latency, Step
from notifications.core.rules.service_levels import (
    DEEP,
    BacklogPoint,
    EventShare,
    UsualDepth,
)
from notifications.core.rules.states import Status
from notifications.core.rules.unanswered import CLOSE_AFTER
from notifications.core.store.postgres import db, id_ranges
from providers.contract import Channel

Shares = dict[dt.timedelta, EventShare]
_HOUR: Final = dt.timedelta(hours=1)
_MINUTE: Final = dt.timedelta(minutes=1)
_USUAL: Final = dt.timedelta(days=7)
_RECENT: Final = dt.timedelta(minutes=30)
_WAITING: Final = (Status.SCHEDULED, Status.QUEUED, Status.RETRYING)
_OURS: Final = [
    *(Reason.RETRIES_EXHAUSTED, Reason.TTL_EXCEEDED, Reason.TTL_PASSED, Reason.RENDER_ERROR),
    *(Reason.POISON, Reason.CLOSED_UNANSWERED),
]
"""Reasons of failure of the service or of a provider. A rejected address is none."""
_MOST_RETRYING: Final = 20_000
"""Deliveries that wait for a retry, counted for a priority: each costs a page of the table, so
100,000 took two seconds of a busy machine."""
_MOST_UNANSWERED: Final = 10_000
"""Unanswered deliveries counted for a lane."""


@dataclass(frozen=True, slots=True, kw_only=True)
class WindowCounts:
    """The deliveries of a window."""

    delivered: EventShare
    permanent: EventShare
    unknown: EventShare
    retried: EventShare


def counts(
    windows: Sequence[dt.timedelta], *, now: dt.datetime
) -> dict[dt.timedelta, WindowCounts]:
    """Return the counts of each window."""
    found: dict[dt.timedelta, WindowCounts] = {}
    for cube, lengths in _by_cube(windows):
        for row in db.rows("service_level_counts", {**_window(cube, lengths, now), "ours": _OURS}):
            sent = row["sent"]
            found[dt.timedelta(seconds=row["seconds"])] = WindowCounts(
                delivered=EventShare(sent, row["ours"]),
                permanent=EventShare(sent + row["ours"], row["permanent"]),
                unknown=EventShare(sent, row["unknown"]),
                retried=EventShare(row["sent_after_retry"], row["failed_after_retry"]),
            )
    return found


def by_channel(window: dt.timedelta, *, now: dt.datetime) -> dict[Channel, EventShare]:
    """Return the deliveries of each channel that ended within a window of up to an hour.

    Good: taken by a provider, and not returned. Bad: failed, bounced, expired for a reason of the
    service or of a provider, and unanswered without a second call.
    """
    good, bad = Counter[Channel](), Counter[Channel]()
    minutes = Cube(Step.MINUTE, DimensionSet.ROUTE)
    asked = {**_cube(minutes), "since": now - window, "ours": _OURS}
    for row in db.rows("delivery_rates", {**asked, "after_sent": [Reason.RECEIPT_FAILED]}):
        channel = Channel(row["channel"])
        good[channel] = max(0, row["sent"] - row["returned"])
        bad[channel] = row["returned"] + row["ended"]
    asked = {
        **id_ranges.LANE_COLUMNS,
        "mode": int(Mode.LIVE),
        "unknown": int(Status.UNKNOWN),
        "closed_in": CLOSE_AFTER - window,
        "most": _MOST_UNANSWERED,
    }
    for span in id_ranges.current():
        for row in db.rows("unanswered_lately", {**asked, **span}):
            bad[Channel(row["channel"])] += row["found"]
    return {channel: EventShare(good[channel], bad[channel]) for channel in Channel}


def within(
    milliseconds: float,
    latency: Latency,
    priority: Priority,
    windows: Sequence[dt.timedelta],
    *,
    now: dt.datetime,
) -> Shares:
    """Return the deliveries of a priority with a latency up to the time, and above the time."""
    found: Shares = {}
    slow = rollups.bin_of(milliseconds) + 1
    for cube, lengths in _by_cube(windows):
        parameters = {
            **_window(cube, lengths, now),
            "kind": int(latency),
            "priority": int(priority),
        }
        for row in db.rows("service_level_latencies", parameters):
            calls = rollups.counts_of(row["sketch"])
            share = EventShare(good=sum(calls[:slow]), bad=sum(calls[slow:]))
            found[dt.timedelta(seconds=row["seconds"])] = share
    return found


def punctual_minutes(
    limit: dt.timedelta,
    priority: Priority,
    windows: Sequence[dt.timedelta],
    *,
    now: dt.datetime,
) -> Shares:
    """Return the minutes in which no due delivery waited longer than the limit, and the others."""
    parameters = {
        "windows": [int(each.total_seconds()) for each in windows],
        "now": now,
        "priority": int(priority),
        "limit_ms": limit // dt.timedelta(milliseconds=1),
    }
    return _shares("backlog_windows", parameters)


def sample(*, now: dt.datetime) -> None:
    """Store the backlog of each priority; a second sample of a minute is left out."""
    depths = _depths(_WAITING, ahead=dt.timedelta(), most=DEEP)
    retrying = _depths((Status.RETRYING,), ahead=MAX_TTL, most=_MOST_RETRYING)
    behind = dict.fromkeys(Priority, dt.timedelta())
    for row in _overdue(_WAITING, before=now):
        # A row that its producer's share puts before others is due since before its creation.
        late = now - max(row["due_at"], ids.time_of(row["id"]))
        behind[row["priority"]] = max(late, behind[row["priority"]])
    at = now.replace(second=0, microsecond=0)
    rows = [
        BacklogSample(
            at=at,
            priority=priority,
            depth=min(depths[priority], DEEP),
            retrying=min(retrying[priority], _MOST_RETRYING),
            behind_ms=behind[priority] // dt.timedelta(milliseconds=1),
        )
        for priority in Priority
    ]
    BacklogSample.objects.bulk_create(rows, ignore_conflicts=True)


def _depths(statuses: Sequence[Status], *, ahead: dt.timedelta, most: int) -> Counter[Priority]:
    asked = {
        "priorities": [int(each) for each in Priority],
        "channels": [int(each) for each in Channel],
        "statuses": [int(each) for each in statuses],
        "mode": int(Mode.LIVE),
        "ahead": ahead,
        "most": most,
    }
    depths: Counter[Priority] = Counter()
    for span in id_ranges.current():
        for row in db.rows("backlog_depths", {**asked, **span}):
            depths[Priority(row["priority"])] += row["depth"]
    return depths


def forget_samples(*, now: dt.datetime, limit: int) -> int:
    """Delete up to `limit` samples past retention."""
    old = BacklogSample.objects.filter(at__lt=now - _USUAL - _HOUR).order_by("at")
    return BacklogSample.objects.filter(pk__in=old.values("pk")[:limit]).delete()[0]


def recent_points(priority: Priority, *, now: dt.datetime) -> list[BacklogPoint]:
    """Return the samples of the last half hour, the oldest first."""
    rows = BacklogSample.objects.filter(priority=priority, at__gt=now - _RECENT, at__lte=now)
    return [
        BacklogPoint(row.at, row.depth, dt.timedelta(milliseconds=row.behind_ms), row.retrying or 0)
        for row in rows.order_by("at")
    ]


def usual_depth(
    priority: Priority, column: Literal["depth", "retrying"], *, now: dt.datetime
) -> UsualDepth:
    """Return the depth of the last seven days without the last half hour."""
    rows = BacklogSample.objects.filter(
        priority=priority, at__gt=now - _USUAL, at__lte=now - _RECENT
    )
    found = rows.aggregate(points=Count(column), mean=Avg(column), deviation=StdDev(column))
    return UsualDepth(found["points"], found["mean"] or 0.0, found["deviation"] or 0.0)


def retrying(*, now: dt.datetime) -> dict[Priority, int]:
    """Return the deliveries that wait for a retry at the last sample; 0 without a new sample."""
    found = {}
    for priority in Priority:
        latest = recent_points(priority, now=now)[-1:]
        found[priority] = sum(each.retrying for each in latest)
    return found


def overdue(
    statuses: Sequence[Status], *, before: dt.datetime
) -> list[tuple[Priority, Channel, Status, dt.datetime]]:
    """Return lanes and statuses with a row due before an instant, and the due time of the row."""
    return [
        (Priority(row["priority"]), Channel(row["channel"]), Status(row["status"]), row["due_at"])
        for row in _overdue(statuses, before=before)
    ]


def _overdue(statuses: Sequence[Status], *, before: dt.datetime) -> Iterator[dict[str, Any]]:
    parameters = {
        **id_ranges.LANE_COLUMNS,
        "statuses": [int(each) for each in statuses],
        "before": before,
        "mode": int(Mode.LIVE),
    }
    for span in id_ranges.current():
        yield from db.rows("overdue_rows", {**parameters, **span})


def _shares(statement: str, parameters: dict[str, object]) -> Shares:
    return {
        dt.timedelta(seconds=row["seconds"]): EventShare(row["good"], row["bad"])
        for row in db.rows(statement, parameters)
    }


def _by_cube(windows: Sequence[dt.timedelta]) -> list[tuple[Cube, list[dt.timedelta]]]:
    minutes = [each for each in windows if each <= _HOUR]
    hours = [each for each in windows if each > _HOUR]
    steps = ((Step.MINUTE, minutes), (Step.HOUR, hours))
    return [(Cube(step, DimensionSet.ROUTE), lengths) for step, lengths in steps if lengths]


def _window(cube: Cube, lengths: Sequence[dt.timedelta], now: dt.datetime) -> dict[str, object]:
    return {
        **_cube(cube),
        "windows": [int(each.total_seconds()) for each in lengths],
        "now": now,
        "since": now - max(lengths),
    }


def _cube(cube: Cube) -> dict[str, object]:
    return {
        "cube": cube.number,
        "dimension_set": int(cube.dimension_set),
        "mode": int(Mode.LIVE),
    }
