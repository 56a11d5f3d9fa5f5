"""[batch_accept] Notifications a second that the API stores durably, in batches of a thousand.

Each item has its own idempotency key, recipient, template and variables; a 202 means notification,
delivery, event and key are committed. Nothing is delivered meanwhile. Compared with a loop of plain
`apply_async`, which checks nothing, stores nothing durable, and knows no duplicates.
"""

from __future__ import annotations

import time
from typing import Final

from tests.benchmarks import costs, load, plain
from tests.benchmarks.figures import PAIRS, Figure, paired
from tests.benchmarks.stage import Stage

_COUNT: Final = 30_000
_TARGET: Final = 10.0


def measure(stage: Stage) -> Figure:
    """Measure it."""
    stage.run()
    meter = costs.Meter()
    with stage.standing_still("p0", "channels", "transactional", "ops", "beat"):
        _rate(stage, costs.Meter(), count=2 * load.BATCH)
        found = paired(
            ours=lambda: _rate(stage, meter, count=_COUNT),
            theirs=lambda: plain.publish_rate(stage),
        )
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
        notes=(meter.each(PAIRS * _COUNT),),
    )


def _rate(stage: Stage, meter: costs.Meter, *, count: int) -> float:
    stage.clear()
    bodies = load.batches(count, priority="P2")
    with costs.measured(stage.components(), into=meter):
        began = time.perf_counter()
        load.post_batches(stage, bodies)
        return count / (time.perf_counter() - began)
