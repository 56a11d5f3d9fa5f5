"""[door_slow] How long a healthy request takes beside 2,000 slow connections.

A third of them send the head of a request and no end, a third a body that does not come, a third
read nothing of the file that they ask for. They come from twenty addresses, all below the limit of
connections for each. One caller hands in single notifications meanwhile, one after the other.
"""

from __future__ import annotations

from statistics import median
from typing import Final

from tests.benchmarks import load
from tests.benchmarks.figures import Figure, paired
from tests.benchmarks.stage import Stage
from tests.slow_clients import held, slow_clients

_CONNECTIONS: Final = 2_000
_COUNT: Final = 600
_TARGET: Final = 2.0
_MILLISECONDS: Final = 1_000


def measure(stage: Stage) -> Figure:
    """Measure it."""
    stage.run()
    medians: list[float] = []
    still: list[int] = []

    def beside() -> float:
        with slow_clients(stage.ports.web, _CONNECTIONS):
            slowest = _slowest(stage, medians)
            still.append(held(stage.ports.web))
        return slowest

    with stage.standing_still("p0", "channels", "transactional", "ops", "beat"):
        _slowest(stage, [])
        found = paired(ours=beside, theirs=lambda: _slowest(stage, []))
    return Figure(
        name="door_slow",
        value=found.ours,
        unit="ms at p99",
        baseline="ms without slow connections",
        baseline_value=found.theirs,
        ratio=found.ratio,
        target=f"<= {_TARGET:.0f}x",
        met=found.ratio <= _TARGET and min(still) > _CONNECTIONS / 2,
        notes=(
            f"{_COUNT} single notifications, one caller; p50 beside them {median(medians):.1f} ms",
            f"connections that the server held at the end: {', '.join(map(str, still))}",
        ),
    )


def _slowest(stage: Stage, medians: list[float]) -> float:
    """Hand in notifications one after the other; returns the p99 in milliseconds."""
    stage.clear()
    bodies = load.singles(_COUNT, priority="P2")
    waits = sorted(load.post_singles(stage, bodies, callers=1))
    medians.append(median(waits) * _MILLISECONDS)
    return waits[len(waits) * 99 // 100] * _MILLISECONDS
