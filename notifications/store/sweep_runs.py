"""Which sweep may run now: one winner a slot, however many beats there are."""

from __future__ import annotations

import datetime as dt

from notifications.store import db


def begin(name: str, *, every: dt.timedelta) -> bool:
    """Whether this caller may run the sweep now; at most one in `every`."""
    return bool(db.rows("begin_sweep", {"name": name, "every": every}))


def end(name: str, *, moved: int) -> None:
    """Note that it came to its end, and how many rows it changed."""
    db.run("end_sweep", {"name": name, "moved": moved})
