"""Roll-ups in Postgres: counts of the change feed's events, each event exactly once.

`rollup_position` holds the transaction before which all events are counted. One transaction adds
the counts of a page of events and moves the position, so a killed process has done both or neither.
The row lock of the position lets one process count at a time. A page holds whole transactions.

`recount` replaces the roll-ups of a UTC day by the counts of the stored events before the position,
under the same lock: the events behind the position follow with the next pages.
"""

from __future__ import annotations

import datetime as dt
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Final
from uuid import UUID

import structlog
from django.db import transaction

from notifications.core import clock
from notifications.core.models import ArchiveDay, ArchiveState, Rollup, RollupPosition
from notifications.core.rules import ids, prices, rollups
from notifications.core.rules.lane import Mode
from notifications.core.rules.request import MAX_TTL
from notifications.core.rules.rollups import CUBES, Cube, DimensionSet, Latency, Step
from notifications.core.rules.states import Status
from notifications.core.store.postgres import change_feed, db, id_ranges, partitions
from notifications.core.store.postgres.change_feed import FeedBounds
from providers.contract import Channel

_log = structlog.get_logger(__name__)

_FIRST: Final = 1
"""Id of the row with the position."""
_AHEAD: Final = dt.timedelta(days=2)
"""An event at the end of a day can be of a notification whose id names the next day."""
_PATIENCE: Final = dt.timedelta(hours=1)
"""A recount waits so long for another recount, which may count a day of many events."""
_GROWTH: Final = 8
"""Factor of the page size after a page that ends within its first transaction."""


@dataclass(frozen=True, slots=True)
class Counted:
    """The result of a page."""

    events: int = 0
    """Number of events read."""
    more: bool = False
    """True if the page ended before the last committed event."""


class PositionMissingError(RuntimeError):
    """The sweep `rollups` has not run yet, so no event counts as counted."""


class DayIncompleteError(RuntimeError):
    """The day has roll-ups, and a count of the stored events would be lower: see `is_complete`."""


def count_next(*, limit: int) -> Counted:
    """Add the next events, about `limit`, to the roll-ups.

    Safe to run twice or late: the position separates counted events from new events. With two
    processes at the same time one process finds no event.
    """
    with transaction.atomic():
        stored = RollupPosition.objects.select_for_update(skip_locked=True).first()
        if stored is not None:
            return _count(stored, limit)
    if not RollupPosition.objects.exists():
        start = change_feed.bounds()
        RollupPosition.objects.get_or_create(id=_FIRST, defaults=_columns(start, start.open_from))
    return Counted()


def _count(stored: RollupPosition, limit: int) -> Counted:
    state = change_feed.bounds()
    if stored.cluster % 2**64 != state.cluster or stored.xid > state.next:
        _log.warning("rollup_position_lost", xid=stored.xid, next=state.next)
        _move(state, state.open_from)
        return Counted()
    if stored.xid >= state.open_from:
        return Counted()
    page = {"from_xid": stored.xid, "below": state.open_from, "scanned": limit}
    [found] = db.rows("rollup_span", page)
    while found["events"] >= page["scanned"] and found["first_xid"] == found["last_xid"]:
        page["scanned"] *= _GROWTH
        [found] = db.rows("rollup_span", page)
    if not found["events"]:
        return Counted()
    is_full = found["events"] >= page["scanned"]
    end = found["last_xid"] if is_full else state.open_from
    span = id_ranges.around([UUID(found["lowest"]), UUID(found["highest"])])
    added = _add({**_PAGE, **span, "from_xid": stored.xid, "below": end})
    if added["unnamed_values"]:
        more = added["unnamed_values"]
        _log.warning("rollup_values_limited", most=rollups.MOST_VALUES, more=more)
    _move(state, end)
    return Counted(found["events"], more=is_full)


def _add(interval: Mapping[str, Any]) -> Mapping[str, int]:
    """Add the events of a page, or of a day; returns their number and that of unnamed values.

    All transactions of a page have ended, so the statement reads the events of `rollup_span`.
    """
    db.run("rollup_settings", {})
    [row] = db.rows("rollup_add", interval)
    return row


def _columns(state: FeedBounds, xid: int) -> dict[str, int]:
    signed = state.cluster - 2**64 if state.cluster >= 2**63 else state.cluster
    return {"cluster": signed, "xid": xid}


def _move(state: FeedBounds, xid: int) -> None:
    RollupPosition.objects.filter(id=_FIRST).update(**_columns(state, xid))


def recount(day: dt.date) -> int:
    """Replace the roll-ups of a UTC day by counts of the stored events; returns their number.

    Buckets past their retention stay deleted. Safe to run twice, and while the sweep runs: the
    sweep waits. Events of erased or expired notifications are gone, so they no longer count. No
    partition leaves its table before the end, so that no count of a dropped row is lost.

    Raises:
        PositionMissingError: the sweep has not begun to count.
        DayIncompleteError: see `is_complete`.
    """
    start = dt.datetime(day.year, day.month, day.day, tzinfo=dt.UTC)
    end = start + dt.timedelta(days=1)
    cubes = [each for each in CUBES if end > clock.now() - each.step.retention]
    with transaction.atomic():
        db.wait_for_locks(_PATIENCE)
        stored = RollupPosition.objects.select_for_update().first()
        if stored is None:
            raise PositionMissingError
        partitions.keep_attached()
        if not is_complete(day):
            raise DayIncompleteError
        bounds = {"cubes": [each.number for each in cubes], "start": start, "end": end}
        db.run("rollup_clear", bounds)
        db.run("rollup_clear_latencies", bounds)
        interval = {
            **_parameters(cubes),
            "recounts": True,
            "from_xid": stored.xid,
            "start": start,
            "end": end,
            "floor": UUID(int=0),
            "ceiling": ids.floor_of(day + _AHEAD),
        }
        return _add(interval)["events"]


def oldest_day() -> dt.date | None:
    """Return the oldest day with notifications; None without partitions."""
    return next(iter(partitions.existing()), None)


def is_complete(day: dt.date) -> bool:
    """Return True if the stored rows have all events of a day, or if the day has no roll-ups.

    A notification can have events `MAX_TTL` after its acceptance, so the days after a dropped day
    have events of dropped notifications.
    """
    oldest = oldest_day()
    still_there = (ArchiveState.WAITING, ArchiveState.EXPORTING)
    has_left = partitions.frozen() or ArchiveDay.objects.exclude(state__in=still_there).exists()
    if oldest is None or not has_left:
        return True
    if day >= oldest + MAX_TTL:
        return True
    start = dt.datetime(day.year, day.month, day.day, tzinfo=dt.UTC)
    days = [each.number for each in CUBES if each.step is Step.DAY]
    return not Rollup.objects.filter(cube__in=days, bucket=start).exists()


def lag(*, now: dt.datetime) -> dt.timedelta:
    """Return the age of the oldest uncounted event; zero without such an event."""
    found = db.rows("rollup_lag", {})
    return max(now - found[0]["at"], dt.timedelta(0)) if found else dt.timedelta(0)


def forget(*, now: dt.datetime, limit: int) -> int:
    """Delete up to `limit` rows past retention per cube; returns the largest number.

    The bucket of the oldest instant stays, because questions may begin in it.
    """
    counts = [0]
    for cube in CUBES:
        oldest = cube.step.floor(now - cube.step.retention)
        past = {"cube": cube.number, "before": oldest, "limit": limit}
        counts += [db.run("rollup_forget", past), db.run("rollup_forget_latencies", past)]
    longest = max(each.step.retention for each in CUBES)
    counts.append(db.run("rollup_forget_values", {"before": now - longest, "limit": limit}))
    return max(counts)


def forget_series(*, limit: int) -> int:
    """Look at the next `limit` series, and delete those without a row; returns the deleted number.

    A run goes on after the last series of the run before, and begins again after the last series of
    all. Safe to run twice or late. While another process counts, the call does nothing: the process
    may have added a row that is not visible yet.
    """
    with transaction.atomic():
        stored = RollupPosition.objects.select_for_update(skip_locked=True).first()
        if stored is None:
            return 0
        page = {"after": stored.series_checked, "limit": limit}
        [row] = db.rows("rollup_forget_series", page)
        RollupPosition.objects.filter(id=_FIRST).update(series_checked=row["last"] or 0)
    deleted: int = row["deleted"]
    return deleted


def _parameters(cubes: list[Cube]) -> dict[str, Any]:
    sets = list(DimensionSet)
    extras = [each.extras for each in sets]
    return {
        "recounts": False,
        "from_xid": 0,
        "below": 0,
        "start": None,
        "end": None,
        "floor": None,
        "ceiling": None,
        "reached": sorted(rollups.REACHED),
        "counted_reasons": list(rollups.COUNTED_REASONS),
        "given_up": sorted(rollups.GIVEN_UP),
        "explained": sorted(rollups.EXPLAINED),
        **{each.label: int(each) for each in Status},
        "status_labels": [each.label for each in Status],
        "channels": [int(each) for each in prices.DEFAULTS],
        "prices": list(prices.DEFAULTS.values()),
        "gamma": rollups.GAMMA,
        "digits": rollups.DIGITS,
        **{each.name.lower(): int(each) for each in Latency},
        "most_values": rollups.MOST_VALUES,
        "own_values": rollups.OWN_VALUES,
        "most_with_own": rollups.MOST_WITH_OWN,
        "test": int(Mode.TEST),
        "other": rollups.OTHER,
        "dimension_sets": [int(each) for each in sets],
        "has_producer": [rollups.Dimension.PRODUCER in each for each in extras],
        "has_route": [rollups.Dimension.PROVIDER in each for each in extras],
        "has_type": [rollups.Dimension.TYPE in each for each in extras],
        "has_country": [rollups.Dimension.COUNTRY in each for each in extras],
        "by_country": [each is DimensionSet.COUNTRY for each in sets],
        "sms": int(Channel.SMS),
        "cubes": [each.number for each in cubes],
        "steps": [each.step.length for each in cubes],
        "cube_sets": [int(each.dimension_set) for each in cubes],
        "sketch_cubes": [each.number for each in cubes if each.dimension_set.has_latencies],
    }


_PAGE: Final = _parameters(list(CUBES))
