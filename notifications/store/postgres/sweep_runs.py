"""Which sweep may run now: one winner an interval, however many beats there are."""

from __future__ import annotations

import datetime as dt
from typing import Final, NamedTuple

from notifications.models import SweepRun
from notifications.store.postgres import db

UNFINISHED_AFTER: Final = dt.timedelta(seconds=90)
"""A run takes seconds, housekeeping up to a minute: a longer run hangs, or its process died."""


def begin(name: str, *, every: dt.timedelta) -> bool:
    """Whether this caller may run the sweep now; at most one in `every`."""
    return bool(db.rows("begin_sweep", {"name": name, "every": every}))


class SweepResult(NamedTuple):
    """A sweep's row at the end of a run."""

    failed_before: int
    """Rows that had failed in the run before."""
    took: dt.timedelta
    """How long runs had begun without an end."""


def end(name: str, *, moved: int, failed: int) -> SweepResult:
    """Note the end of a run. `moved`, `failed`: rows; `failed` is 1 if the sweep itself failed."""
    [before] = db.rows("end_sweep", {"name": name, "moved": moved, "failed": failed})
    return SweepResult(before["failed"], before["took"])


def overdue(*, now: dt.datetime) -> dict[str, dt.timedelta]:
    """Return the sweeps that run for longer than UNFINISHED_AFTER, and how long."""
    old = SweepRun.objects.filter(running_since__lt=now - UNFINISHED_AFTER)
    return {name: now - since for name, since in old.values_list("name", "running_since") if since}
