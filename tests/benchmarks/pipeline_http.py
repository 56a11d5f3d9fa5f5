"""[pipeline_http] From the first POST until the last row is `sent`, all gates on, over HTTP.

P2 e-mails with idempotency keys, in batches of a thousand: accepted, published by the relay,
claimed, rendered, one HTTP call each, settled. Compared with the rate at which plain Celery
consumes tasks that do nothing.
"""

from __future__ import annotations

import time
from typing import Final

from tests.benchmarks import costs, load, plain
from tests.benchmarks.figures import Figure, paired
from tests.benchmarks.stage import Stage

_DELIVERIES: Final = 40_000
"""Several seconds, so that the relay's second weighs little."""
_TARGET: Final = 4.0


def measure(stage: Stage) -> Figure:
    """Measure it."""
    stage.run()
    rate(stage, costs.Meter(), count=2 * load.BATCH)  # connections, caches, statements
    meter = costs.Meter()
    rounds: list[float] = []

    def ours() -> float:
        rounds.append(rate(stage, meter, count=_DELIVERIES))
        return rounds[-1]

    found = paired(ours=ours, theirs=lambda: plain.consume_rate(stage))
    return Figure(
        name="pipeline_http",
        value=found.ours,
        unit="deliveries/s",
        baseline=f"empty tasks/s ({plain.NAME}, prefork 2)",
        baseline_value=found.theirs,
        ratio=found.ratio,
        target=f">= {_TARGET:.0f}x",
        met=found.ratio >= _TARGET,
        notes=(meter.each(len(rounds) * _DELIVERIES), "each delivery was called for once"),
    )


def rate(stage: Stage, meter: costs.Meter, *, count: int) -> float:
    """Deliveries a second, from the first POST of `count` until the last of them is settled."""
    stage.clear()
    bodies = load.batches(count, priority="P2")
    with costs.measured(stage.components(), into=meter):
        began = time.perf_counter()
        load.post_batches(stage, bodies)
        load.wait_until_sent(stage, count)
        return count / (time.perf_counter() - began)
