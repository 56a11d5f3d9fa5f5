"""[p2_age], [p1_age] How old a message is at its call while a less urgent flood goes out.

Milliseconds from the producer's POST until the provider has answered, at p99: P2 while 100,000 P3
wait, P1 while 100,000 P2 do. All go through the same workers, lanes of one channel and one
provider. Beside it the same on an idle stack, and the service level. P2 leaves by the relay, which
looks once a second.
"""

from __future__ import annotations

from typing import Final

from notifications.core.rules.lane import Priority
from tests.benchmarks import load, p0_latency
from tests.benchmarks.figures import Figure
from tests.benchmarks.stage import Stage

_FLOOD: Final = 100_000
_SAMPLES: Final = 300
_SERVICE_LEVEL_MS: Final = {Priority.P1: 10_000, Priority.P2: 300_000}
"""Of docs/benchmarks.md: at p99."""


class Drained(Exception):
    """The flood was gone before the last sample: the number would say nothing."""


def measure_p2(stage: Stage) -> Figure:
    """P2 beside a flood of P3."""
    return _measure(stage, Priority.P2, beside=Priority.P3)


def measure_p1(stage: Stage) -> Figure:
    """P1 beside a flood of P2."""
    return _measure(stage, Priority.P1, beside=Priority.P2)


def _measure(stage: Stage, priority: Priority, *, beside: Priority) -> Figure:
    stage.run()
    stage.clear()
    p0_latency.percentiles(stage, load.singles(50, priority=priority.name))
    _, calm = p0_latency.percentiles(stage, load.singles(_SAMPLES, priority=priority.name))
    with stage.standing_still("channels", "transactional"):
        load.post_batches(stage, load.batches(_FLOOD, priority=beside.name))
    p50, p99 = p0_latency.percentiles(stage, load.singles(_SAMPLES, priority=priority.name))
    waiting = load.unsent(stage, priority=beside)
    stage.clear()
    if not waiting:
        raise Drained(f"no {beside.name} waited any more after the last {priority.name}")
    level = _SERVICE_LEVEL_MS[priority]
    return Figure(
        name=f"{priority.name.lower()}_age",
        value=p99,
        unit=f"ms p99 while {_FLOOD:,} {beside.name} wait",
        baseline="ms p99 idle",
        baseline_value=calm,
        target=f"< {level:,} ms",
        met=p99 < level,
        notes=(f"p50 {p50:,.0f} ms", f"{beside.name} still waiting at the end: {waiting:,}"),
    )
