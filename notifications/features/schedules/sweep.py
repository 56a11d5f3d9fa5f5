"""Schedules: create the notifications of the next day, and delete old occurrences."""

from __future__ import annotations

import datetime as dt
import functools
from collections.abc import Collection
from typing import Final

import structlog
from django.db.models import Q, QuerySet

from notifications.core.models import Schedule
from notifications.core.sweeps import loops, rounds
from notifications.core.sweeps.rounds import Swept
from notifications.features.schedules import occurrences

_log = structlog.get_logger(__name__)

_RETRY_EVERY: Final = dt.timedelta(hours=1)
"""Interval of tries of a failing schedule."""


def run_once(*, now: dt.datetime, limit: int) -> Swept:
    """Process due schedules, `limit` at a time; counts the occurrences. Safe to run twice.

    A failing schedule stops no other schedule: its page shows the problem, an alert is raised, and
    the sweep tries it again every hour.
    """
    seen: set[int] = set()

    def batch() -> Swept:
        rows = list(_due(now, seen)[:limit])
        seen.update(rows)
        run = functools.partial(_run_schedule, now=now)
        done = loops.in_turn(rows, run, on_error=functools.partial(_record_failure, now=now))
        return Swept(done.moved, done.failed, more=len(rows) == limit)

    return loops.repeat(batch)


def _due(now: dt.datetime, seen: Collection[int]) -> QuerySet[Schedule, int]:
    is_tried = Q(retry_at=None) | Q(retry_at__lte=now)
    due = Schedule.objects.filter(is_tried, due_at__lte=now, producer__is_active=True)
    fresh = due.exclude(id__in=list(seen))
    return fresh.order_by("due_at", "id").values_list("id", flat=True)


def _run_schedule(schedule_id: int, *, now: dt.datetime) -> Swept:
    return Swept(occurrences.materialise(schedule_id, now=now))


def _record_failure(schedule_id: int, error: Exception, *, now: dt.datetime) -> None:
    is_unreadable = isinstance(error, occurrences.UnreadableSchedule)
    problem = str(error) if is_unreadable else type(error).__name__
    _log.exception("schedule_failed", schedule=schedule_id)
    if isinstance(error, rounds.DATABASE_TROUBLE):
        return  # not caused by the schedule, such as a lock timeout: the next run tries it again
    occurrences.record_failure(schedule_id, problem=problem, until=now + _RETRY_EVERY)
