"""Periodic tasks of beat as rows of django-celery-beat: interval, batch and on/off of each sweep.

`migrate` creates missing rows and never changes existing rows, so an operator's settings survive
restarts and deployments. `migrate` deletes the rows of tasks that the release does not have.
"""

from __future__ import annotations

import datetime as dt
import json
from collections import defaultdict
from collections.abc import Container, Mapping, Sequence
from dataclasses import dataclass
from typing import Final, NamedTuple

import structlog
from django_celery_beat.models import IntervalSchedule, PeriodicTask

_log = structlog.get_logger(__name__)

PREFIX: Final = "sweep_"
_SHORTEST_LIFE: Final = 5
"""Shortest expiry of a message in seconds; a later message replaces an expired message."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Rhythm:
    """The operator's setting of a sweep: its enabled periodic tasks, as in `begin_sweep`.

    Without an enabled task, the setting of those that are off.
    """

    every: dt.timedelta | None
    """The shortest interval; None without an interval."""
    limit: int | None
    """Rows in a batch, of the first task; None: the sweep's own limit."""
    is_on: bool
    """False: no task is enabled."""
    has_crontab: bool = False
    """True: a task has another schedule than an interval, and counts as the usual interval."""

    def interval(self, usual: dt.timedelta) -> dt.timedelta:
        """Return the shortest interval; `usual` without an interval or with a crontab."""
        if self.every is None:
            return usual
        return min(self.every, usual) if self.has_crontab else self.every


def task_name(sweep: str) -> str:
    """Return the name of the Celery task of a sweep."""
    return PREFIX + sweep


def rhythms() -> dict[str, Rhythm]:
    """Return the setting of each sweep with a row, by sweep name."""
    rows = PeriodicTask.objects.filter(task__startswith=PREFIX).select_related("interval")
    tasks: dict[str, list[PeriodicTask]] = defaultdict(list)
    for row in rows.order_by("id"):
        tasks[row.task.removeprefix(PREFIX)].append(row)
    return {name: _rhythm(of_sweep) for name, of_sweep in tasks.items()}


def _rhythm(tasks: Sequence[PeriodicTask]) -> Rhythm:
    is_on = any(each.enabled for each in tasks)
    counted = [each for each in tasks if each.enabled == is_on]
    intervals = [interval_of(each) for each in counted]
    return Rhythm(
        every=min((each for each in intervals if each is not None), default=None),
        limit=limit_of(counted[0]),
        is_on=is_on,
        has_crontab=None in intervals,
    )


def interval_of(task: PeriodicTask) -> dt.timedelta | None:
    """Return a periodic task's interval; None for a crontab."""
    if task.interval is None:
        return None
    return dt.timedelta(**{task.interval.period: task.interval.every})


def set_interval(task: PeriodicTask, seconds: int) -> None:
    """Set a periodic task's interval. The caller saves the row."""
    task.interval, _ = IntervalSchedule.objects.get_or_create(
        every=seconds, period=IntervalSchedule.SECONDS
    )
    task.crontab = task.solar = task.clocked = None
    task.expire_seconds = max(seconds, _SHORTEST_LIFE)


def limit_of(task: PeriodicTask) -> int | None:
    """Return the operator's batch size; None: the sweep's default."""
    limit: int | None = json.loads(task.kwargs).get("limit")
    return limit


def set_limit(task: PeriodicTask, limit: int | None) -> None:
    """Set the rows in a batch; None: the sweep's own limit. The caller saves the row."""
    task.kwargs = json.dumps({} if limit is None else {"limit": limit})


class PeriodicSweep(NamedTuple):
    """The row of a sweep in a new installation."""

    every: dt.timedelta
    description: str
    queue: str


def create_missing(sweeps: Mapping[str, PeriodicSweep]) -> None:
    """Create missing rows of sweeps by name."""
    known = list(map(task_name, sweeps))
    there = set(PeriodicTask.objects.filter(task__in=known).values_list("task", flat=True))
    for name, (every, description, queue) in sweeps.items():
        if task_name(name) not in there:
            task = PeriodicTask(
                name=name, task=task_name(name), queue=queue, description=description
            )
            set_interval(task, int(every.total_seconds()))
            task.save()


def delete_unknown(known: Container[str]) -> None:
    """Delete the rows with an unknown Celery task, and log every deleted row.

    Beat would send such a task for ever, and a worker would log an error for each message. An
    operator's row for a known task stays. A disabled row stays too, so that the task is off after a
    new installation of the app.
    """
    for row in PeriodicTask.objects.filter(enabled=True).order_by("name"):
        if row.task not in known:
            row.delete()
            _log.warning("periodic_task_deleted", name=row.name, task=row.task)
