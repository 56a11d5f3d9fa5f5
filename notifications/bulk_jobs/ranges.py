"""Ranges: parts of a job's audience by recipient id, so that several expanders share a job."""

from __future__ import annotations

import datetime as dt
import itertools
from collections.abc import Mapping, Sequence
from typing import Final

from django.db.models import Q

from notifications.bulk_jobs import members
from notifications.models import BulkJob, BulkJobRange
from notifications.rules.lane import Mode

PARTS: Final = 4
"""Ranges of a large audience: as many expanders can work at the same time."""
SMALLEST: Final = 20_000
"""Recipient ids of a range at least; a small audience has one range."""


def split(first: int, last: int, *, parts: int = PARTS) -> list[tuple[int, int]]:
    """Divide recipient ids from `first` to `last` into (after, until] pairs without a gap."""
    after = first - 1
    size = last - after
    parts = max(1, min(parts, size // SMALLEST))
    ends = [after + size * part // parts for part in range(parts + 1)]
    return list(itertools.pairwise(ends))


def make(
    job: BulkJob, *, zones: Mapping[dt.datetime, Sequence[str]] | None = None
) -> list[BulkJobRange]:
    """Store the ranges of a job. The caller holds the lock of the job and makes ranges once.

    Args:
        job: the job.
        zones: start time -> timezones with this start, for a time on the recipient's wall clock;
            each start time gets ranges of its own. None: one start for all recipients.
    """
    first, last = members.bounds(job.audience, mode=Mode(job.mode))
    parts = split(first, last) if last else []
    if job.test_group_size:
        parts = [(parts[0][0], parts[-1][1])] if parts else []  # the first recipients in one order
    groups = [(None, None)] if zones is None else [(at, list(of)) for at, of in zones.items()]
    rows = [
        BulkJobRange(
            job=job,
            number=number,
            first=after,
            cursor=after,
            until=until,
            zones=of,
            starts_at=at,
        )
        for number, (at, of, (after, until)) in enumerate([
            (at, of, part) for at, of in groups for part in parts
        ])
    ]
    return BulkJobRange.objects.bulk_create(rows)


def expandable(job: BulkJob, *, now: dt.datetime) -> list[int]:
    """Return the ids of unfinished ranges with a start time in the past, in order."""
    begun = Q(starts_at=None) | Q(starts_at__lte=now)
    found = BulkJobRange.objects.filter(begun, job=job, finished_at=None)
    return list(found.order_by("number").values_list("id", flat=True))
