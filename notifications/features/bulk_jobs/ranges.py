"""Ranges: parts of a job's audience by recipient id, so that several expanders share a job."""

from __future__ import annotations

import datetime as dt
import itertools
from typing import Final

from notifications.core.models import BulkJob, BulkJobRange
from notifications.core.rules.lane import Mode
from notifications.core.rules.times import local_time
from notifications.core.store.cached import producer_windows
from notifications.features.audiences.rows import members
from notifications.features.audiences.rules import parse
from notifications.features.bulk_jobs.rules import zones

PARTS: Final = 4
"""Ranges of a large audience: as many expanders can work at the same time."""
SMALLEST: Final = 20_000
"""Recipient ids of a range at least; a small audience has one range."""
_BEHIND: Final = dt.timedelta(microseconds=1)
"""Time from the last start of a timezone to the ranges without timezones."""


def split(first: int, last: int, *, parts: int = PARTS) -> list[tuple[int, int]]:
    """Divide recipient ids from `first` to `last` into (after, until] pairs without a gap."""
    after = first - 1
    size = last - after
    parts = max(1, min(parts, size // SMALLEST))
    ends = [after + size * part // parts for part in range(parts + 1)]
    return list(itertools.pairwise(ends))


def make(job: BulkJob, *, now: dt.datetime) -> list[BulkJobRange]:
    """Store the ranges of a job. The caller holds the lock of the job and makes ranges once.

    With a time on the recipient's wall clock, every start time has separate ranges, and the last
    ranges have no timezones: these ranges find recipients moved to a timezone with finished ranges.
    With a rule for a winner, the ranges are of the sample; `make_rest` adds all other recipients.
    """
    return _make(job, now=now, sample=True if job.winner_rule else None)


def make_rest(job: BulkJob, *, now: dt.datetime) -> list[BulkJobRange]:
    """Store the ranges of the recipients outside the sample, once, after the choice of the winner.

    On the recipient's wall clock, the next occurrence of the time counts.
    """
    return _make(job, now=now, sample=False)


def _make(job: BulkJob, *, now: dt.datetime, sample: bool | None) -> list[BulkJobRange]:
    first, last = members.bounds(parse.parse(job.audience), mode=Mode(job.mode))
    parts = split(first, last) if last else []
    if job.test_group_size:
        # One range, in which the recipients have a single order: the test group is its beginning.
        parts = [(parts[0][0], parts[-1][1])] if parts else []
    used = BulkJobRange.objects.filter(job=job).count()
    rows = [
        BulkJobRange(
            job=job,
            number=number,
            first=after,
            cursor=after,
            until=until,
            zones=names,
            starts_at=starts_at,
            sample=sample,
        )
        for number, ((starts_at, names), (after, until)) in enumerate(
            itertools.product(_starts(job, now), parts), start=used
        )
    ]
    return BulkJobRange.objects.bulk_create(rows)


def _starts(job: BulkJob, now: dt.datetime) -> list[tuple[dt.datetime | None, list[str] | None]]:
    """Return start times with their timezones; without a wall clock time a single start for all.

    Each timezone of the tz database is in a list, because a recipient may move before the start.
    """
    if not job.send_at_local:
        return [(None, None)]
    used = members.zones(parse.parse(job.audience), mode=Mode(job.mode))
    found = zones.starts(
        job.send_at_local,
        {*used, "", *local_time.names()},
        after=now,
        unknown=_unknown_zone(job),
    )
    starts = {at: names for at, names in found.items() if not set(used).isdisjoint(names)}
    return [*starts.items(), (max(starts) + _BEHIND, None)] if starts else []


def _unknown_zone(job: BulkJob) -> str:
    """Return the timezone for recipients without a timezone: the producer's."""
    return producer_windows.of(job.producer_id).timezone
