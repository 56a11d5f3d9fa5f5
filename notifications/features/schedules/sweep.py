"""Schedules: create the notifications of the next day, and delete old occurrences."""

from __future__ import annotations

import datetime as dt
from collections.abc import Collection
from typing import Final

import structlog
from django.db.models import BooleanField, Case, Q, QuerySet, When

from notifications.core import clock
from notifications.core.models import Schedule
from notifications.core.rules.alerts import AlertKind
from notifications.core.store.postgres import alerts
from notifications.core.sweeps import rounds
from notifications.core.sweeps.rounds import DATABASE_TROUBLE, Swept
from notifications.features.schedules import occurrences

_log = structlog.get_logger(__name__)

_RETRY_EVERY: Final = dt.timedelta(hours=1)
"""Interval of tries of a failing schedule."""


def run_once(*, now: dt.datetime, limit: int) -> Swept:
    """Process due schedules, `limit` at a time; counts the occurrences. Safe to run twice.

    A failing schedule stops no other schedule: its page shows the problem, an alert is raised, and
    the sweep tries it again every hour.
    """
    ends_at = rounds.deadline()
    done = Swept()
    seen: set[int] = set()
    while batch := list(_due(now, seen)[:limit]):
        for schedule_id, had_problem in batch:
            done += _run_schedule(schedule_id, now=now, had_problem=had_problem)
            seen.add(schedule_id)
        if clock.monotonic() > ends_at:
            break
    return done


def _due(now: dt.datetime, seen: Collection[int]) -> QuerySet[Schedule, tuple[int, bool]]:
    is_tried = Q(retry_at=None) | Q(retry_at__lte=now)
    due = Schedule.objects.filter(is_tried, due_at__lte=now, producer__is_active=True)
    had_problem = Case(When(problem="", then=False), default=True, output_field=BooleanField())
    fresh = due.exclude(id__in=list(seen)).annotate(had_problem=had_problem)
    return fresh.order_by("due_at", "id").values_list("id", "had_problem")


def _run_schedule(schedule_id: int, *, now: dt.datetime, had_problem: bool) -> Swept:
    try:
        made = occurrences.materialise(schedule_id, now=now)
    except DATABASE_TROUBLE:
        raise
    except Exception as error:  # noqa: BLE001 - whatever one schedule causes, it must not stop the others
        problem = (
            str(error)
            if isinstance(error, occurrences.UnreadableSchedule)
            else type(error).__name__
        )
        _log.exception("schedule_failed", schedule=schedule_id)
        occurrences.record_failure(schedule_id, problem=problem, until=now + _RETRY_EVERY)
        alerts.raise_once(
            AlertKind.SCHEDULE_FAILED, str(schedule_id), f"schedule {schedule_id}: {problem}"
        )
        return Swept(failed=1)
    if had_problem:
        alerts.resolve(AlertKind.SCHEDULE_FAILED, str(schedule_id))
    return Swept(made)
