"""[single_accept] Requests a second when every notification is a request of its own.

Compared with plain `apply_async`: durable transactions over HTTP beside pushes into a list.
Requests that come at the same time share a transaction, so there are many callers. Web has two
processes, as `docker-compose.yml` starts it; the notes tell the rate of one process, how long one
caller alone waits, and where the time goes.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from statistics import median
from typing import Final

from tests.benchmarks import costs, load, plain, wrk
from tests.benchmarks.figures import PAIRS, Figure, paired
from tests.benchmarks.stage import Stage

_SECONDS: Final = 4
_CALLERS: Final = 32
"""Connections that post at once: a fleet of producers' processes."""
_WEB_PROCESSES: Final = 2
_ALONE: Final = 300
"""Requests of one caller that nobody shares anything with."""
_TARGET: Final = 0.8


@dataclass(slots=True)
class _Runs:
    """Counts and times of several runs."""

    count: int = 0
    p50_ms: list[float] = field(default_factory=list)
    p99_ms: list[float] = field(default_factory=list)
    meter: costs.Meter = field(default_factory=costs.Meter)


def measure(stage: Stage) -> Figure:
    """Measure it."""
    stage.run()
    runs = _Runs()
    with stage.web_alone(processes=1):
        _warm(stage)
        one_process = median(_rate(stage, _Runs()) for _ in range(PAIRS))
        stage.clear()
        alone = load.post_singles(stage, load.singles(_ALONE, priority="P2"), callers=1)
    with stage.web_alone(processes=_WEB_PROCESSES):
        _warm(stage)
        found = paired(ours=lambda: _rate(stage, runs), theirs=lambda: plain.publish_rate(stage))
        stage.clear()
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
            f"{_CALLERS} callers: p50 {median(runs.p50_ms):.1f} ms, p99 {max(runs.p99_ms):.1f} ms",
            f"one web process: {one_process:.0f} requests/s",
            f"1 caller alone: p50 {median(alone) * 1000:.1f} ms",
            runs.meter.each(runs.count),
        ),
    )


def _warm(stage: Stage) -> None:
    stage.clear()
    wrk.post_singles(stage, callers=_CALLERS, seconds=1)


def _rate(stage: Stage, runs: _Runs) -> float:
    stage.clear()
    with costs.measured(stage.components(), into=runs.meter):
        posted = wrk.post_singles(stage, callers=_CALLERS, seconds=_SECONDS)
    runs.count += posted.requests
    runs.p50_ms.append(posted.p50_ms)
    runs.p99_ms.append(posted.p99_ms)
    return posted.requests / posted.seconds
