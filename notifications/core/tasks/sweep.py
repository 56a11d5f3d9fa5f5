"""The sweeps' tasks, `sweep_relay`, `sweep_rescue` and so on; beat sends them at intervals.

Sweeps with an interval of a few seconds send no events to Flower; the admin shows their last run.

A run that ends with rows left sends a further run at once (`sweeps.help_out`). A process drops a
further run while it executes another, so there are at most as many as `ops` processes.
"""

from __future__ import annotations

import contextlib
import datetime as dt
from typing import Any, Final

from celery import Task, shared_task

from notifications.core import broker, stopping, sweeps
from notifications.core.store.postgres import periodic_tasks

_SHOWN_FROM: Final = dt.timedelta(minutes=1)
"""Minimum interval of sweeps that Flower shows."""
_EXPIRES_SECONDS: Final = 5
"""Seconds after which an unclaimed further run expires, because all processes are busy."""


def _task(sweep: sweeps.Sweep) -> Task[Any, Any]:
    @shared_task(name=periodic_tasks.task_name(sweep.name), send_events=sweep.every >= _SHOWN_FROM)
    def run(*, helps: bool = False, limit: int | None = None) -> str:
        """Run the sweep, unless a run began within the interval. Safe to run twice or late.

        The keyword arguments of the periodic task have the limit.
        """
        runs = sweeps.help_out if helps else sweeps.run
        swept = runs(sweep.name, limit=limit)
        if swept.more and not stopping.is_stopping():
            _send_further(task, sweep.queue, limit)
        return f"{swept.moved} moved, {swept.failed} failed"

    task: Task[Any, Any] = run
    return task


def _send_further(task: Task[Any, Any], queue: str, limit: int | None) -> None:
    """Send a further run. Without a broker, beat's own messages suffice."""
    with contextlib.suppress(*broker.errors()):
        task.apply_async(
            kwargs={"helps": True} | ({} if limit is None else {"limit": limit}),
            queue=queue,
            expires=_EXPIRES_SECONDS,
            retry=False,
        )


TASKS: Final = {name: _task(sweep) for name, sweep in sweeps.SWEEPS.items()}
"""The task of each sweep."""
