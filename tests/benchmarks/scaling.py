"""[workers_cost] [ops_cost] CPU of the same work with four processes, beside one.

    workers_cost    P3 mails from the first POST until the last is `sent`, by four workers
    ops_cost        notifications scheduled for one moment until all are queued, by four `ops`

The CPU of all components counts, PostgreSQL too: processes that wait for each other's locks, or
look for work that another one has, cost more for each row.
"""

from __future__ import annotations

import time
from collections.abc import Callable
from threading import Event
from typing import Final

from notifications.core.rules.states import Status
from tests.benchmarks import costs, load, pipeline, rows
from tests.benchmarks.figures import Figure, paired
from tests.benchmarks.stage import Stage

_DELIVERIES: Final = 40_000
_ROWS: Final = 100_000
_PROCESSES: Final = 4
_DELIVERING: Final = ("web", "channels", "ops", "beat")
"""With one kind of worker for P3."""
_RELEASING: Final = ("web", "ops", "beat")
_WORKERS_TARGET: Final = 1.15
_OPS_TARGET: Final = 1.11
"""A rate for each CPU second of at least 0.9."""
_POLL_SECONDS: Final = 0.05
_MICROSECONDS: Final = 1e6
_SCHEDULED_LEFT: Final = """
    SELECT 1 FROM delivery WHERE status = %s AND due_at IS NOT NULL LIMIT 1
"""
_pause: Final = Event()


def measure_workers(stage: Stage) -> Figure:
    """Measure the workers of a lane."""

    def cost(meter: costs.Meter, processes: int) -> tuple[float, int]:
        stage.run(_DELIVERING, copies={"channels": processes})
        pipeline.rate(stage, costs.Meter(), count=2 * load.BATCH, priority="P3")
        count = stage.size(_DELIVERIES)
        return pipeline.rate(stage, meter, count=count, priority="P3"), count

    return _compared(cost, name="workers_cost", unit="us of CPU a delivery", target=_WORKERS_TARGET)


def measure_ops(stage: Stage) -> Figure:
    """Measure the processes of the sweeps."""

    def cost(meter: costs.Meter, processes: int) -> tuple[float, int]:
        stage.run(_RELEASING, copies={"ops": processes})
        count = stage.size(_ROWS)
        return _release_rate(stage, meter, count=count), count

    found = _compared(cost, name="ops_cost", unit="us of CPU a release", target=_OPS_TARGET)
    stage.clear()
    return found


def _compared(
    cost: Callable[[costs.Meter, int], tuple[float, int]], *, name: str, unit: str, target: float
) -> Figure:
    meters = {_PROCESSES: costs.Meter(), 1: costs.Meter()}
    rates: dict[int, list[float]] = {_PROCESSES: [], 1: []}
    done = dict.fromkeys(meters, 0)

    def with_(processes: int) -> float:
        meter = costs.Meter()
        rate, count = cost(meter, processes)
        meters[processes].add(meter.seconds)
        rates[processes].append(rate)
        done[processes] += count
        return sum(meter.seconds.values()) / count * _MICROSECONDS

    found = paired(ours=lambda: with_(_PROCESSES), theirs=lambda: with_(1))
    return Figure(
        name=name,
        value=found.ours,
        unit=f"{unit}, {_PROCESSES} processes",
        baseline="the same with one",
        baseline_value=found.theirs,
        ratio=found.ratio,
        target=f"<= {target}x",
        met=found.ratio <= target,
        notes=tuple(
            f"{processes}: {meters[processes].each(done[processes])}; a second:"
            f" {', '.join(f'{each:,.0f}' for each in rates[processes])}"
            for processes in meters
        ),
    )


def _release_rate(stage: Stage, meter: costs.Meter, *, count: int) -> float:
    """Return the rows that are released a second."""
    rows.write_scheduled(stage, count)
    began = time.perf_counter()
    with costs.measured(stage.components(), into=meter), stage.database() as link:
        while link.execute(_SCHEDULED_LEFT, [Status.SCHEDULED]).fetchone():
            _pause.wait(_POLL_SECONDS)
    return count / (time.perf_counter() - began)
