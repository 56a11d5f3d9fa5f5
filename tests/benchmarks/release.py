"""[release] 200,000 notifications scheduled for one moment: from that moment until all are sent.

Compared with [pipeline_http], which has to accept its notifications and releases none.
"""

from __future__ import annotations

import time
from typing import Final

from tests.benchmarks import costs, load, pipeline, rows
from tests.benchmarks.figures import Figure, paired
from tests.benchmarks.stage import Stage

_COUNT: Final = 200_000
_PIPELINE_COUNT: Final = 40_000
_TARGET: Final = 0.8
_DRAIN_SECONDS: Final = 600.0


def measure(stage: Stage) -> Figure:
    """Measure it."""
    stage.run()
    count, meter = stage.size(_COUNT), costs.Meter()
    pipeline.rate(stage, costs.Meter(), count=2 * load.BATCH)
    rounds: list[float] = []

    def releasing() -> float:
        rounds.append(_rate(stage, meter, count=count))
        return rounds[-1]

    found = paired(
        ours=releasing,
        theirs=lambda: pipeline.rate(stage, costs.Meter(), count=_PIPELINE_COUNT),
    )
    return Figure(
        name="release",
        value=found.ours,
        unit=f"deliveries/s, {count:,} scheduled for one moment",
        baseline="deliveries/s (pipeline_http)",
        baseline_value=found.theirs,
        ratio=found.ratio,
        target=f">= {_TARGET}x",
        met=found.ratio >= _TARGET,
        notes=(meter.each(len(rounds) * count), "each delivery was called for once"),
    )


def _rate(stage: Stage, meter: costs.Meter, *, count: int) -> float:
    rows.write_scheduled(stage, count)
    began = time.perf_counter()
    with costs.measured(stage.components(), into=meter):
        load.wait_until_sent(stage, count, within=_DRAIN_SECONDS)
    spent = time.perf_counter() - began
    stage.clear()
    return count / spent
