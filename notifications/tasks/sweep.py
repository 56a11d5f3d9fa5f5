"""The sweeps' tasks, `sweep_relay`, `sweep_rescue` and so on: beat sends each in its own interval.

Sweeps that run every few seconds send no events to Flower; the admin shows their last run.

A run that ends while rows are left sends a further run at once (`sweeps.help_out`). There are never
more of them than `ops` processes: a process that runs one drops the next.
"""

from __future__ import annotations

import contextlib
import datetime as dt
from typing import Any, Final

from celery import Task, shared_task

from notifications import broker, stopping, sweeps
from notifications.store.postgres import periodic_tasks

_SHOWN_FROM: Final = dt.timedelta(minutes=1)
"""Flower shows sweeps with at least this interval."""
_EXPIRES_SECONDS: Final = 5
"""A further run that no process has taken for so long is not needed: all are busy."""


def _task(sweep: sweeps.Sweep) -> Task[Any, Any]:
    @shared_task(name=periodic_tasks.task_name(sweep.name), send_events=sweep.every >= _SHOWN_FROM)
    def run(*, helps: bool = False) -> str:
        """Run the sweep, unless it ran a moment ago. Repeats do no harm; a lost one is late."""
        swept = sweeps.help_out(sweep.name) if helps else sweeps.run(sweep.name)
        if swept.more and not stopping.is_stopping():
            _send_further(task)
        return f"{swept.moved} moved, {swept.failed} failed"

    task: Task[Any, Any] = run
    return task


def _send_further(task: Task[Any, Any]) -> None:
    """Ask for a run beside those of beat. Without a broker beat's own messages go on."""
    with contextlib.suppress(*broker.errors()):
        task.apply_async(
            kwargs={"helps": True},
            queue=periodic_tasks.QUEUE,
            expires=_EXPIRES_SECONDS,
            retry=False,
        )


TASKS: Final = {name: _task(sweep) for name, sweep in sweeps.SWEEPS.items()}
"""The task of each sweep."""
