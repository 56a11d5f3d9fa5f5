"""Which sweep may run now: one winner a slot, however many beats there are."""

from __future__ import annotations

import datetime as dt

from notifications.store import db


def begin(name: str, *, every: dt.timedelta) -> bool:
    """Whether this caller may run the sweep now; at most one in `every`."""
    return bool(db.rows("begin_sweep", {"name": name, "every": every}))


def end(name: str, *, moved: int, failed: int) -> int:
    """Note that a run came to its end; returns how many rows had failed in the run before.

    Args:
        name: the sweep's.
        moved: rows that it changed.
        failed: rows that raised an exception; 1 when the sweep itself did.
    """
    [before] = db.rows("end_sweep", {"name": name, "moved": moved, "failed": failed})
    found: int = before["failed"]
    return found
