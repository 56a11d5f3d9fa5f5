"""Lane shares: the rows that the lanes allow to bulk jobs.

The jobs of a lane share the room of the lane by weight (`rules.pace`). The first
expander of a second divides the room among all running jobs of the lane, and stores for every job
the total of rows that may exist. The existing rows are counted by the checkpoints of the ranges.
An undone page therefore gives the share of the page back, and a repeated division allows no row
twice.

A job counts in the lane of the first channel.
"""

from __future__ import annotations

import datetime as dt
import math
from collections.abc import Mapping, Sequence
from typing import Any, Final
from uuid import UUID

from django.db import transaction
from django.db.models import Sum

from notifications.core import conf
from notifications.core.models import BulkJob, BulkJobPace, BulkJobRange, BulkLane
from notifications.core.rules import ids
from notifications.core.rules.bulk_job import BulkJobState
from notifications.core.rules.channels import DEFAULT_ORDER
from notifications.core.rules.lane import Lane
from notifications.core.rules.states import Status
from notifications.core.store.postgres import db, id_ranges
from notifications.core.store.templates import template_cache
from notifications.features.bulk_jobs import stages
from notifications.features.bulk_jobs.rules import pace
from notifications.features.bulk_jobs.rules.pace import Demand

EVERY: Final = dt.timedelta(seconds=1)
"""Least time between two divisions of a lane."""
_NO_TIME: Final = dt.timedelta(0)


def rate(job: BulkJob) -> float | None:
    """Return the slots per second of a job, at most the ceiling of the installation."""
    return pace.rate(job, ceiling=conf.current().bulk_job_rate)


def share(job: BulkJob) -> int:
    """Return the rows that the job may create now, over all ranges; 0 before a division."""
    row = BulkLane.objects.filter(**_key(lane_of(job))).first()
    granted = row.granted if row else {}
    total = math.floor(float(granted.get(str(job.pk), 0.0)) + _ROUNDING)
    return max(0, total - _message_counts([job.pk]).get(job.pk, 0))


_ROUNDING: Final = 1e-6
"""Sums of fractions are a little smaller than a whole number."""


def lane_of(job: BulkJob) -> Lane:
    """Return the lane of the job's first channel."""
    return Lane.of(job.mode, job.priority, job.channels[0] if job.channels else _first_channel(job))


def _first_channel(job: BulkJob) -> int:
    template = template_cache.by_id([job.template]).get(job.template)
    texts = template.texts if template else {}
    usable = [channel for channel in DEFAULT_ORDER if channel in texts] or list(texts)
    return int((usable or DEFAULT_ORDER)[0])


def divide(lane: Lane, now: dt.datetime) -> None:
    """Divide the room of a lane among the running jobs, if the last division is old enough.

    A single process divides a lane at a time: other processes skip the locked row. Called outside
    of the transaction of a page, so that a long page does not stop the divisions.
    """
    if not BulkLane.objects.filter(**_key(lane)).exists():
        BulkLane.objects.bulk_create([BulkLane(**_key(lane))], ignore_conflicts=True)
    with transaction.atomic():
        free = BulkLane.objects.select_for_update(skip_locked=True).filter(**_key(lane))
        row = free.first()
        if row is None or (row.divided_at and _NO_TIME <= now - row.divided_at < EVERY):
            return
        _store_shares(lane, row, now)


def _store_shares(lane: Lane, row: BulkLane, now: dt.datetime) -> None:
    """Store the total of rows of every job.

    A job without an open range loses the unused share, so no share stays blocked.
    """
    jobs = _contenders(lane, now)
    created = _message_counts([job.pk for job in jobs])
    granted = {
        job.pk: max(row.granted.get(str(job.pk), 0.0), created.get(job.pk, 0)) for job in jobs
    }
    unused = {key: total - created.get(key, 0) for key, total in granted.items()}
    rates = {job.pk: found for job in jobs if (found := rate(job)) is not None}
    wanted = dict.fromkeys(granted, math.inf) | _slots(rates, now)
    waiting, behind = _waiting(lane)
    row.window = pace.lane_window(
        row.window,
        waiting=waiting,
        behind=behind,
        wanted=sum(wanted.values()),
        rated_per_second=sum(rates.values()),
    )
    weights = sum(job.weight for job in jobs)
    asks = [
        Demand(job.pk, job.weight, max(0.0, min(wanted[job.pk], most) - unused[job.pk]))
        for job in jobs
        for most in [wanted[job.pk] if job.pk in rates else row.window * job.weight / weights]
    ]
    given = pace.divide_room(row.window - waiting - sum(unused.values()), asks)
    row.granted = {str(key): granted[key] + share for key, share in given.items()}
    row.divided_at = now
    row.save(update_fields=["granted", "window", "divided_at"])


def _slots(rates: Mapping[UUID, float], now: dt.datetime) -> dict[UUID, float]:
    """Return the free slots of the jobs with a rate, at most the slots of RATED_WINDOW."""
    next_at = dict(BulkJobPace.objects.filter(job__in=rates).values_list("job_id", "next_at"))
    return {
        key: min(
            pace.free_slots(next_at.get(key), per_second=rate, now=now),
            math.ceil(rate * pace.RATED_WINDOW.total_seconds()),
        )
        for key, rate in rates.items()
    }


def _contenders(lane: Lane, now: dt.datetime) -> list[BulkJob]:
    """Return the running jobs of the lane with a range that may go on."""
    running = BulkJob.objects.filter(
        state=BulkJobState.RUNNING, mode=lane.mode, priority=lane.priority
    )
    return [
        job
        for job in running.order_by("id")
        if lane_of(job) == lane and stages.open_ranges(job, now)
    ]


def _message_counts(jobs: Sequence[UUID]) -> dict[UUID, int]:
    found = BulkJobRange.objects.filter(job__in=jobs).values_list("job_id")
    return dict(found.annotate(created=Sum("accepted")))


def _waiting(lane: Lane) -> tuple[int, dt.timedelta]:
    """Return the due rows that no worker has, and the wait of the oldest."""
    waiting, behind = 0, _NO_TIME
    asked = {**_key(lane), "queued": Status.QUEUED, "counted": 2 * pace.LARGEST_WINDOW}
    for span in id_ranges.current():
        for found in db.rows("bulk_lane_waiting", {**span, **asked}):
            waiting += found["waiting"]
            # A place in the fair queue can be earlier than the row.
            since = max(found["due_at"], ids.time_of(found["id"]))
            behind = max(behind, found["now"] - since)
    return waiting, behind


def _key(lane: Lane) -> dict[str, Any]:
    return {"mode": lane.mode, "priority": lane.priority, "channel": lane.channel}
