"""The sweeps' tasks, `sweep_relay`, `sweep_rescue` and so on: beat sends each in its own interval.

Those that run every few seconds send no events: Flower would show nothing else. Their last run and
its result are in the admin, under Periodic tasks.
"""

from __future__ import annotations

import datetime as dt
from collections.abc import Callable
from typing import Any, Final

from celery import shared_task

from notifications import sweeps
from notifications.store import periodic

_SHOWN_FROM: Final = dt.timedelta(minutes=1)
"""Sweeps with at least this interval are seen in Flower."""


def _task(sweep: sweeps.Sweep) -> Callable[..., Any]:
    @shared_task(name=periodic.task_name(sweep.name), send_events=sweep.every >= _SHOWN_FROM)
    def run() -> str:
        """Run the sweep, unless it ran a moment ago. Repeats do no harm; a lost one is late."""
        swept = sweeps.run(sweep.name)
        return f"{swept.moved} moved, {swept.failed} failed"

    task: Callable[..., Any] = run
    return task


TASKS: Final = {name: _task(sweep) for name, sweep in sweeps.SWEEPS.items()}
"""The task of each sweep."""
