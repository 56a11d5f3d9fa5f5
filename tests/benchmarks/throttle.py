"""[throttle] Accuracy of the rate of a bulk job over ten minutes of fast time.

The clock of the expanders is a counter, so ten minutes take a minute or two. Two expanders share
the job. A pause of two minutes, a restart of the expanders and undone pages happen within. The due
times of the rows in PostgreSQL are counted in each minute in which the job runs, and the worst
minute is the figure. The lane is never late: the limits of late lanes have tests of their own.
"""

from __future__ import annotations

from tests.benchmarks.figures import Figure
from tests.benchmarks.stage import Stage


def measure_rate(stage: Stage) -> Figure:
    """Measure a job with `rate_per_second`."""
    from tests.benchmarks import throttle_run  # noqa: PLC0415 - after Django is set up

    return throttle_run.measure(stage, "throttle", throttle_run.RATE)


def measure_spread(stage: Stage) -> Figure:
    """Measure 5 million recipients over 10 hours: 500,000 in an hour."""
    from tests.benchmarks import throttle_run  # noqa: PLC0415 - after Django is set up

    return throttle_run.measure(stage, "throttle_spread", throttle_run.SPREAD)
