"""[budget] Costs of a batch item, a single request, a delivery and an idle minute, as counts.

See `cost_counts`, whose modules need Django set up. The figure is the greatest ratio of a count to
its committed count. `make bench ONLY=budget WRITE=1` commits the counts of this run.
"""

from __future__ import annotations

import os
from typing import Final

from tests.benchmarks.figures import Figure
from tests.benchmarks.stage import Stage

_MOST: Final = 1.06


def measure(stage: Stage) -> Figure:
    """Count in this process, while no other process of the product runs."""
    from tests.benchmarks import cost_counts  # noqa: PLC0415 - its models need Django set up

    stage.run(())
    stage.clear()
    costs = cost_counts.measure(stage.key)
    if os.environ.get("WRITE"):
        cost_counts.commit(costs)
    known = cost_counts.committed()
    ratio, subject, name = max(
        (costs[subject][name] / value, subject, name)
        for subject, values in known.items()
        for name, value in values.items()
        if value
    )
    return Figure(
        name="budget",
        value=costs[subject][name],
        unit=f"{name} a {subject}",
        baseline="committed",
        baseline_value=known[subject][name],
        ratio=ratio,
        target=f"<= {_MOST}x",
        met=ratio <= _MOST,
        notes=tuple(cost_counts.as_text(costs)),
    )
