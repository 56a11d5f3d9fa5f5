"""[single_accept] Requests a second when every notification is a request of its own.

Compared, for a sense of scale only, with plain `apply_async`: one durable transaction over HTTP
beside one push into a list. The notes say where the time goes.
"""

from __future__ import annotations

import time
from statistics import median
from typing import Final

from tests.benchmarks import costs, load, plain
from tests.benchmarks.figures import PAIRS, Figure, paired
from tests.benchmarks.stage import Stage

_COUNT: Final = 1_500
_CALLERS: Final = 4
"""Connections that post at once: half of the web process's threads."""


def measure(stage: Stage) -> Figure:
    """Measure it."""
    stage.run()
    meter = costs.Meter()
    waits: list[float] = []
    with stage.standing_still("p0", "channels", "transactional", "ops", "beat"):
        _rate(stage, costs.Meter(), [], count=100)
        found = paired(
            ours=lambda: _rate(stage, meter, waits, count=_COUNT),
            theirs=lambda: plain.publish_rate(stage),
        )
        stage.clear()
    slowest = sorted(waits)[len(waits) * 99 // 100]
    return Figure(
        name="single_accept",
        value=found.ours,
        unit="requests/s",
        baseline=f"apply_async/s ({plain.NAME})",
        baseline_value=found.theirs,
        ratio=found.ratio,
        notes=(
            f"{_CALLERS} callers: p50 {median(waits) * 1000:.1f} ms, p99 {slowest * 1000:.1f} ms",
            meter.each(PAIRS * _COUNT),
        ),
    )


def _rate(stage: Stage, meter: costs.Meter, waits: list[float], *, count: int) -> float:
    stage.clear()
    bodies = load.singles(count, priority="P2")
    with costs.measured(stage.components(), into=meter):
        began = time.perf_counter()
        waits += load.post_singles(stage, bodies, callers=_CALLERS)
        return count / (time.perf_counter() - began)
