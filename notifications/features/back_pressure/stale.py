"""Stale: drop P3 deliveries after too long a wait, while the lag of the lane is over the limit.

    lag over the drop limits   stale rows become `suppressed: stale`, in the order of the queue
    lag under the limits       the drop ends

A row is stale after more than `drop_older` in the queue: since the acceptance, or since the end of
a hold (a schedule, quiet hours, a cap, a switch). A queue gives each producer's oldest row first.
P0, P1, P2 and test mode are never dropped, nor a row in a worker's hands, a row of the broker, a
row with a provider call, or a row not yet due.

A dropped row leaves no dead letter and opens no next channel of a fallback chain, because the whole
message is stale. The next delivery of its ordering key follows by the sweep `ordering`.

Safe to run twice: the transition expects a due row with the status queued. Late or never: rows
wait, and expire after the time to live.
"""

from __future__ import annotations

import datetime as dt
from collections.abc import Sequence
from typing import Any, Final
from uuid import UUID

from django.db.models import F

from notifications.core import clock
from notifications.core.models import LaneLag
from notifications.core.rules import ids
from notifications.core.rules.alerts import AlertKind
from notifications.core.rules.reasons import Reason
from notifications.core.rules.states import Status
from notifications.core.rules.transitions import DROP_STALE
from notifications.core.store.postgres import alerts, backlog, db, id_ranges, lane_lag, transitions
from notifications.core.store.postgres.transitions import STILL_DUE, Move
from notifications.core.store.rate_limits import frequency_caps
from notifications.core.sweeps import rounds
from notifications.core.sweeps.rounds import Swept
from notifications.features.back_pressure import rules
from notifications.features.back_pressure.rules import Limits

QUIET: Final = dt.timedelta(minutes=10)
"""The alert is resolved after this time without a drop."""
_RETURNS: Final = [Reason.RELEASED, Reason.HOLD_OVER, Reason.REPLAYED]
_MICROSECOND: Final = dt.timedelta(microseconds=1)
_COLUMNS: Final = ("drops_since", "dropped_at", "examined_until")


def drop(row: LaneLag, limits: Limits, *, now: dt.datetime, limit: int) -> Swept:
    """Drop stale deliveries of a lane while its lag is over the limits, for up to a second.

    Args:
        row: the lane's lag of this run; changed and stored.
        limits: of the lane.
        now: the time of the sample.
        limit: deliveries of a page.
    """
    is_over = _is_over(row, limits)
    if not is_over and row.drops_since is None:
        _resolve_later(row, now=now)
        return Swept()
    if is_over and row.drops_since is None:
        row.drops_since, row.examined_until = now, None
        if row.dropped_at is None or now - row.dropped_at > QUIET:
            LaneLag.objects.filter(pk=row.pk).update(dropped=0)
    done, ends_at = Swept(), rounds.deadline()
    while is_over:
        moved, is_end = _drop_page(row, limits, now=now, limit=limit)
        done += Swept(moved)
        is_over = _is_over(row, limits)
        if is_end or clock.monotonic() >= ends_at:
            break
    if not is_over:
        row.drops_since = row.examined_until = None
    row.save(update_fields=_COLUMNS)
    # Several runs may drop at the same time, each its own rows.
    LaneLag.objects.filter(pk=row.pk).update(dropped=F("dropped") + done.moved)
    row.refresh_from_db(fields=["dropped"])
    if row.dropped:
        alerts.raise_once(AlertKind.STALE_DROPPED, _name(row), _numbers(row, limits))
    return done + Swept(more=is_over and bool(done.moved))


def _drop_page(row: LaneLag, limits: Limits, *, now: dt.datetime, limit: int) -> tuple[int, bool]:
    """Drop the stale deliveries of a page; returns the number, and True at the queue's end."""
    lane = lane_lag.lane_of(row)
    page = db.rows(
        "stale_rows",
        {
            **id_ranges.whole(),
            "queued": Status.QUEUED,
            "mode": lane.mode,
            "priority": lane.priority,
            "channel": lane.channel,
            "older": limits.drop_older,
            "since": row.examined_until,
            "returns": _RETURNS,
            "limit": limit,
        },
    )
    moved = _suppress([each["id"] for each in page if _is_stale(each, limits.drop_older)])
    row.waiting = max(0, row.waiting - moved)
    if moved:
        row.dropped_at = now
        left = {each.lane: each.behind for each in backlog.of_lanes(counted=1)}
        row.behind_ms = left.get(lane, dt.timedelta()) // dt.timedelta(milliseconds=1)
    if len(page) < limit:
        row.examined_until = None
        return moved, True
    last: dt.datetime = page[-1]["due_at"]
    row.examined_until = last if moved or last != row.examined_until else last + _MICROSECOND
    return moved, False


def _is_stale(row: dict[str, Any], older: dt.timedelta) -> bool:
    since = max(filter(None, (row["due_at"], ids.time_of(row["id"]), row["returned_at"])))
    return bool(row["now"] - since > older)


def _suppress(stale: Sequence[UUID]) -> int:
    """Suppress deliveries and refund their frequency caps; returns the number."""
    moved: list[UUID] = []
    for _, of_day in id_ranges.by_day(stale):
        moves = [Move(id=each, reason=Reason.STALE) for each in of_day]
        moved += transitions.apply(DROP_STALE, moves, STILL_DUE)
    frequency_caps.refund_after_commit(moved)
    return len(moved)


def _is_over(row: LaneLag, limits: Limits) -> bool:
    """Return True if the lag of a new sample is over the limits; an old sample says nothing."""
    if clock.now() - row.sampled_at > rules.UNKNOWN_AFTER:
        return False
    return rules.drops(limits, waiting=row.waiting, behind=lane_lag.behind_of(row))


def _resolve_later(row: LaneLag, *, now: dt.datetime) -> None:
    if row.dropped_at is not None and now - row.dropped_at > QUIET:
        alerts.resolve(AlertKind.STALE_DROPPED, _name(row))
        row.dropped, row.dropped_at = 0, None
        row.save(update_fields=("dropped", "dropped_at"))


def _name(row: LaneLag) -> str:
    return lane_lag.lane_of(row).name


def _numbers(row: LaneLag, limits: Limits) -> str:
    hour = dt.timedelta(hours=1)
    return (
        f"{row.dropped:,} stale deliveries were dropped; {row.waiting:,} wait, the oldest for"
        f" {lane_lag.behind_of(row) / hour:.1f} h; limits: {limits.drop_waiting:,} and"
        f" {limits.drop_behind / hour:.1f} h; stale: over {limits.drop_older / hour:.1f} h"
    )
