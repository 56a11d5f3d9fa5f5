"""[single_accept] Requests a second when every notification is a request of its own.

Compared with plain `apply_async`: durable transactions over HTTP beside pushes into a list.
Requests that come at the same time share a transaction, so there are many callers. The notes tell
how long one caller alone waits, and where the time goes.
"""

from __future__ import annotations

import time
from statistics import median
from typing import Final

from tests.benchmarks import costs, load, plain
from tests.benchmarks.figures import PAIRS, Figure, paired
from tests.benchmarks.stage import Stage

_COUNT: Final = 3_000
_CALLERS: Final = 32
"""Connections that post at once: a fleet of producers' processes."""
_ALONE: Final = 300
"""Requests of one caller that nobody shares anything with."""
_TARGET: Final = 0.5


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
        alone = load.post_singles(stage, load.singles(_ALONE, priority="P2"), callers=1)
        stage.clear()
    slowest = sorted(waits)[len(waits) * 99 // 100]
    return Figure(
        name="single_accept",
        value=found.ours,
        unit="requests/s",
        baseline=f"apply_async/s ({plain.NAME})",
        baseline_value=found.theirs,
        ratio=found.ratio,
        target=f">= {_TARGET:.1f}x",
        met=found.ratio >= _TARGET,
        notes=(
            f"{_CALLERS} callers: p50 {median(waits) * 1000:.1f} ms, p99 {slowest * 1000:.1f} ms",
            f"1 caller alone: p50 {median(alone) * 1000:.1f} ms",
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
