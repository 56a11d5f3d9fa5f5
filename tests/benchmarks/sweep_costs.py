"""[backlog_cost] [partitions_cost] See `sweep_work`, whose models need Django set up."""

from __future__ import annotations

from tests.benchmarks.figures import Figure
from tests.benchmarks.stage import Stage


def measure_backlog(stage: Stage) -> Figure:
    """Measure the sweeps."""
    from tests.benchmarks import sweep_work  # noqa: PLC0415 - its models need Django set up

    return sweep_work.measure_backlog(stage)


def measure_partitions(stage: Stage) -> Figure:
    """Measure one settle and one receipt."""
    from tests.benchmarks import sweep_work  # noqa: PLC0415 - its models need Django set up

    return sweep_work.measure_partitions(stage)
