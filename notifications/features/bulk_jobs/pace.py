"""Pace: the number of rows that a bulk job may create now, and the due time of each row.

    start time of the range, test group, winner    may the range go on?
    slots of the rate                              at most a window ahead of the present
    share of the lane (`lane_shares`)              at most a window ahead of the sent rows

The first free slot of a job is a separate row, `BulkJobPace`, locked and moved by the transaction
of a page. Several expanders of a job therefore take different slots, and an undone page returns the
slots.
"""

from __future__ import annotations

import datetime as dt
from typing import Final

from notifications.core.models import BulkJob, BulkJobPace, BulkJobRange
from notifications.features.bulk_jobs import lane_shares, stages
from notifications.features.bulk_jobs.rules import pace

_SHARED_SLOTS: Final = 20_000
"""Slots of a window above which several expanders create pages at the same time."""


def prepare(job: BulkJob, now: dt.datetime) -> None:
    """Store the rows that the pages of several expanders share, before the transaction of a page.

    A page keeps its locks until the commit. A process stopped in a page therefore blocks
    the range and the slots of the job, and no other job of the lane.
    """
    if lane_shares.rate(job) is not None:
        _make_row(job)
    lane_shares.divide(lane_shares.lane_of(job), now)


def try_lock(job: BulkJob) -> bool:
    """Lock the slots of a job until the end of the transaction; False: a page has the slots."""
    if lane_shares.rate(job) is None:
        return True
    _make_row(job)
    return bool(BulkJobPace.objects.select_for_update(skip_locked=True).filter(job=job))


def allowance(job: BulkJob, range_: BulkJobRange, now: dt.datetime) -> int:
    """Return the number of recipients that an expander may examine in a range now.

    Called in the transaction of the page, after `prepare`. Each recipient gives at most a single
    message. Without a rate, or with a high rate, expanders that ask at the same time get the same
    number, so together they can create some pages more; the next number is smaller. The slots and
    the test group stay exact.
    """
    if range_.pk not in stages.open_ranges(job, now):
        return 0
    most = stages.test_group_room(job, now)
    if (per_second := lane_shares.rate(job)) is not None:
        slots = _free_slots(job, per_second, now)
        most = slots if most is None else min(most, slots)
    if most == 0:
        return 0
    share = lane_shares.share(job)
    return share if most is None else min(most, share)


def _free_slots(job: BulkJob, per_second: float, now: dt.datetime) -> int:
    """Return the free slots of a job. A few slots go to a single expander at a time.

    The expander keeps the row of the pace until the page is committed, so that the next expander
    sees fewer slots.
    """
    row = BulkJobPace.objects.filter(job=job)
    if per_second * pace.WINDOW.total_seconds() <= _SHARED_SLOTS:
        row = row.select_for_update(skip_locked=True)
    found = row.first()
    return 0 if found is None else pace.free_slots(found.next_at, per_second=per_second, now=now)


def due_times(
    job: BulkJob, count: int, now: dt.datetime, *, examined: int | None = None
) -> list[dt.datetime]:
    """Return the due times of the next `count` messages of a job, ascending, and take their slots.

    Called in the transaction of the page: the slots are taken when the rows are committed. Called
    also for a page without messages, because a job with `spread_seconds` has a slot for each
    examined recipient.

    Args:
        job: the job.
        count: the messages of the page.
        now: the present; the due time of each message without a rate.
        examined: the recipients of the page; default: `count`.
    """
    per_second = lane_shares.rate(job)
    if per_second is None:
        return [now] * count
    _make_row(job)
    row = BulkJobPace.objects.select_for_update().get(job=job)
    slots = examined if job.spread_seconds and examined is not None else count
    times, row.next_at = pace.take(row.next_at, count, slots=slots, per_second=per_second, now=now)
    row.save(update_fields=["next_at"])
    return times


def _make_row(job: BulkJob) -> None:
    """Store the row of the slots; an INSERT would wait for a page that has changed the row."""
    if not BulkJobPace.objects.filter(job=job).exists():
        BulkJobPace.objects.bulk_create([BulkJobPace(job=job)], ignore_conflicts=True)
