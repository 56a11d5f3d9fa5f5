"""Runs of sweeps: at most one start per interval, with any number of beats."""

from __future__ import annotations

import datetime as dt
from collections.abc import Collection
from typing import Final, NamedTuple

from notifications.core.models import SweepRun
from notifications.core.store.postgres import db, periodic_tasks

UNFINISHED_AFTER: Final = dt.timedelta(seconds=90)
"""A run takes seconds, housekeeping up to a minute: a longer run hangs, or its process died."""

_EARLY: Final = 0.9
"""Fraction of an interval after which a run may begin, because a message can arrive early."""

_AT_ONCE: Final = dt.timedelta(0)


class SweepStart(NamedTuple):
    """A sweep's row at the start of a run."""

    failed_before: int
    """Failed rows of the previous run."""


def begin(
    name: str, *, every: dt.timedelta | None = None, usual: dt.timedelta = _AT_ONCE
) -> SweepStart | None:
    """Start a run if the caller may run the sweep now; at most one caller in an interval.

    Args:
        name: the name of the sweep.
        every: the interval; default: the interval of the sweep's periodic task.
        usual: the interval of a sweep without an enabled periodic task, and of a crontab.

    Raises:
        OperationalError: the database is away, or every server takes no writes.
    """
    task = periodic_tasks.task_name(name)
    slot = {"name": name, "early": _EARLY, "every": every, "task": task, "usual": usual}
    found = db.retry_refused(lambda: db.rows("begin_sweep", slot))
    return SweepStart(found[0]["failed"]) if found else None


def delete_unknown(known: Collection[str]) -> None:
    """Delete the rows of unknown sweeps: an interrupted run would count as unfinished for ever."""
    SweepRun.objects.exclude(name__in=known).delete()


def end(name: str, *, moved: int, failed: int) -> dt.timedelta:
    """Note the end of a run; return the time since the first run that has not ended.

    `moved`, `failed`: rows; `failed` is 1 if the sweep itself failed.
    """
    [row] = db.rows("end_sweep", {"name": name, "moved": moved, "failed": failed})
    took: dt.timedelta = row["took"]
    return took


def overdue(*, now: dt.datetime) -> dict[str, dt.timedelta]:
    """Return the sweeps with a run longer than UNFINISHED_AFTER, and the duration."""
    old = SweepRun.objects.filter(running_since__lt=now - UNFINISHED_AFTER)
    return {name: now - since for name, since in old.values_list("name", "running_since") if since}
