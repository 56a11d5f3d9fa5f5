"""[batch_accept] Notifications a second that the API stores durably, in batches of a thousand.

Each item has its own idempotency key, recipient, template and variables; a 202 means notification,
delivery, event and key are committed. Nothing is delivered meanwhile. Compared with a loop of plain
`apply_async`, which checks nothing, stores nothing durable, and knows no duplicates. Web has two
processes, as `docker-compose.yml` starts it; the notes tell the rate of one process.
"""

from __future__ import annotations

import time
from statistics import median
from typing import Final

from tests.benchmarks import costs, load, plain
from tests.benchmarks.figures import PAIRS, Figure, paired
from tests.benchmarks.stage import Stage

_COUNT: Final = 30_000
_WARM: Final = 8 * load.BATCH
_WEB_PROCESSES: Final = 2
_CALLERS: Final = 2 * _WEB_PROCESSES
"""Connections: while one batch waits for its commit, another is parsed."""
_TARGET: Final = 10.0


def measure(stage: Stage) -> Figure:
    """Measure it."""
    stage.run()
    meter = costs.Meter()
    with stage.web_alone(processes=1):
        _rate(stage, costs.Meter(), count=_WARM)
        one_process = median(_rate(stage, costs.Meter()) for _ in range(PAIRS))
    with stage.web_alone(processes=_WEB_PROCESSES):
        _rate(stage, costs.Meter(), count=_WARM)
        found = paired(ours=lambda: _rate(stage, meter), theirs=lambda: plain.publish_rate(stage))
        stage.clear()
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


def _rate(stage: Stage, meter: costs.Meter, *, count: int = _COUNT) -> float:
    stage.clear()
    bodies = load.batches(count, priority="P2")
    with costs.measured(stage.components(), into=meter):
        began = time.perf_counter()
        load.post_batches(stage, bodies, callers=_CALLERS)
        return count / (time.perf_counter() - began)
