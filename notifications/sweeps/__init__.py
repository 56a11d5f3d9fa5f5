"""Beat's work: what makes every promise hold after a crash.

Beat sends one `tick` a second. A tick runs the sweeps whose slot has come; the slot is won in
Postgres, so two beats do no harm and a missed tick only makes a sweep late. All sweeps have one
shape:

    run_once(*, now, limit) -> how many rows it moved

    due            rescue leases, release what waited, publish what is queued        each second
    replays        work off replay jobs                                               each second
    schedules      make notifications of what recurs, a day ahead                    each second
    dead_letters   alert on growth, discard past retention                            each minute
    breakers       resolve alerts of those that are closed, bound their events        each minute
    order          forget places in lines and ordering keys that nobody needs        each minute
    housekeeping   wipe secrets, expired keys, bound the rejected log                 each minute
    partitions     make days ahead, drop days past retention, check the clock         each hour

Safe to run twice (every move is guarded by the status it expects), to run late (rows stay due),
never to run (nothing is lost; it waits; the web process raises an alert).
"""

from __future__ import annotations

import datetime as dt
from dataclasses import dataclass
from typing import Final, Protocol

import structlog

from notifications import clock
from notifications.store import sweep_runs
from notifications.sweeps import (
    breakers,
    dead_letters,
    due,
    housekeeping,
    order,
    partitions,
    replays,
    schedules,
)

_log = structlog.get_logger(__name__)


class RunOnce(Protocol):
    """A sweep's one function."""

    def __call__(self, *, now: dt.datetime, limit: int) -> int:
        """Do up to `limit` rows' work of each kind; returns how many rows moved."""


@dataclass(frozen=True, slots=True)
class Sweep:
    """A sweep and its rhythm."""

    name: str
    every: dt.timedelta
    limit: int
    run_once: RunOnce


_SECOND: Final = dt.timedelta(seconds=0.9)
"""Under a second, so that a tick that comes a little early still finds its slot free."""
_MINUTE: Final = dt.timedelta(minutes=1)

SWEEPS: Final = (
    Sweep("due", _SECOND, 500, due.run_once),
    Sweep("replays", _SECOND, 200, replays.run_once),
    Sweep("schedules", _SECOND, 50, schedules.run_once),
    Sweep("dead_letters", _MINUTE, 5_000, dead_letters.run_once),
    Sweep("breakers", _MINUTE, 5_000, breakers.run_once),
    Sweep("order", _MINUTE, 5_000, order.run_once),
    Sweep("housekeeping", _MINUTE, 5_000, housekeeping.run_once),
    Sweep("partitions", dt.timedelta(hours=1), 1, partitions.run_once),
)


def tick() -> None:
    """Run every sweep whose slot this caller wins."""
    for sweep in SWEEPS:
        if sweep_runs.begin(sweep.name, every=sweep.every):
            moved = sweep.run_once(now=clock.now(), limit=sweep.limit)
            sweep_runs.end(sweep.name, moved=moved)
            if moved:
                _log.info("swept", sweep=sweep.name, moved=moved)
