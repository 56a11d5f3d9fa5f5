"""Which sweep may run now: one winner a slot, however many beats there are."""

from __future__ import annotations

import datetime as dt
from typing import Final, NamedTuple

from notifications.models import SweepRun
from notifications.store import db

UNFINISHED_AFTER: Final = dt.timedelta(seconds=90)
"""A run takes some seconds, housekeeping up to a minute: this one hangs, or its process died."""


def begin(name: str, *, every: dt.timedelta) -> bool:
    """Whether this caller may run the sweep now; at most one in `every`."""
    return bool(db.rows("begin_sweep", {"name": name, "every": every}))


class Ended(NamedTuple):
    """What stood in a sweep's row when a run of it ended."""

    failed_before: int
    """Rows that had failed in the run before."""
    took: dt.timedelta
    """How long runs of it had begun and none had ended."""


def end(name: str, *, moved: int, failed: int) -> Ended:
    """Note that a run came to its end.

    Args:
        name: the sweep's.
        moved: rows that it changed.
        failed: rows that raised an exception; 1 when the sweep itself did.
    """
    [before] = db.rows("end_sweep", {"name": name, "moved": moved, "failed": failed})
    return Ended(before["failed"], before["took"])


def unfinished(*, now: dt.datetime) -> dict[str, dt.timedelta]:
    """Sweeps whose runs have begun and not ended for longer than UNFINISHED_AFTER, and how long."""
    old = SweepRun.objects.filter(running_since__lt=now - UNFINISHED_AFTER)
    return {name: now - since for name, since in old.values_list("name", "running_since") if since}
