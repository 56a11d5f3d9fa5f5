"""[throttle] Accuracy of the rate of a bulk job over ten minutes of fast time.

The clock of the expanders is a counter, so ten minutes take seconds. Two expanders share the job.
A pause of two minutes, a restart of the expanders and undone pages happen within. The due times of
the rows in PostgreSQL are counted in each minute in which the job runs.
"""

from __future__ import annotations

from tests.benchmarks.figures import Figure
from tests.benchmarks.stage import Stage


def measure(stage: Stage) -> Figure:
    """Measure it."""
    from tests.benchmarks import throttle_run  # noqa: PLC0415 - after Django is set up

    return throttle_run.measure(stage)
