"""[batch_accept] Notifications a second that the API stores durably, in batches of a thousand.

Each item has its own idempotency key, recipient, template and variables; a 202 means notification,
delivery, event and key are committed. Nothing is delivered meanwhile. Compared with a loop of plain
`apply_async`, which checks nothing, stores nothing durable, and knows no duplicates. Web has two
processes, as `docker-compose.yml` starts it; the notes tell the rate of one process.
"""

from __future__ import annotations

import time
from collections.abc import Iterator
from contextlib import contextmanager
from statistics import median
from typing import Final

from tests.benchmarks import costs, load, plain
from tests.benchmarks.figures import PAIRS, Figure, paired
from tests.benchmarks.stage import Stage

_COUNT: Final = 30_000
_WEB_PROCESSES: Final = 2
_CALLERS: Final = 2 * _WEB_PROCESSES
"""Connections: while one batch waits for its commit, another is parsed."""
_TARGET: Final = 10.0


def measure(stage: Stage) -> Figure:
    """Measure it."""
    stage.run()
    meter = costs.Meter()
    with _served(stage, processes=1):
        one_process = median(_rate(stage, costs.Meter()) for _ in range(PAIRS))
    with _served(stage, processes=_WEB_PROCESSES):
        found = paired(ours=lambda: _rate(stage, meter), theirs=lambda: plain.publish_rate(stage))
        stage.clear()
    stage.serve(processes=1)
    return Figure(
        name="batch_accept",
        value=found.ours,
        unit="accepted/s",
        baseline=f"apply_async/s ({plain.NAME})",
        baseline_value=found.theirs,
        ratio=found.ratio,
        target=f">= {_TARGET:.0f}x",
        met=found.ratio >= _TARGET,
        notes=(
            f"one web process: {one_process:.0f} accepted/s",
            meter.each(PAIRS * _COUNT),
        ),
    )


@contextmanager
def _served(stage: Stage, *, processes: int) -> Iterator[None]:
    """Have web run with so many warm processes, and nothing else."""
    stage.serve(processes=processes)
    with stage.standing_still("p0", "channels", "transactional", "ops", "beat"):
        stage.clear()
        load.post_batches(stage, load.batches(8 * load.BATCH, priority="P2"), callers=_CALLERS)
        yield


def _rate(stage: Stage, meter: costs.Meter) -> float:
    stage.clear()
    bodies = load.batches(_COUNT, priority="P2")
    with costs.measured(stage.components(), into=meter):
        began = time.perf_counter()
        load.post_batches(stage, bodies, callers=_CALLERS)
        return _COUNT / (time.perf_counter() - began)
