"""[template_cache] Time from a template's publication until the last of four processes shows it.

Each process asks for the template a thousand times a second. Ours hear of it through the state
Redis; the baseline is what holds while that is away, when a version is believed for a second.
"""

from __future__ import annotations

import itertools
import os
from typing import Final

from notifyproj.devstack.demo.environment import until
from tests.benchmarks.figures import Figure, paired
from tests.benchmarks.stage import Stage

_TARGET_MS: Final = 2_000
_NOWHERE: Final = "redis://127.0.0.1:1/0"


def measure(stage: Stage) -> Figure:
    """Measure it."""
    from notifications.core.store.templates import template_cache  # noqa: PLC0415 - its models need Django set up
    from tests.store.templates import watchers  # noqa: PLC0415 - its models need Django set up

    stage.run([])
    bodies = (f"number {number}" for number in itertools.count())
    alone = {**os.environ, "REDIS_URL": _NOWHERE}
    before = watchers.listeners()
    with (
        watchers.watching(os.environ, patience=template_cache._FRESH) as told,
        watchers.watching(alone, patience=template_cache._FRESH) as untold,
    ):
        until(lambda: watchers.listeners() == before + watchers.PROCESSES, what="all listen")

        def ours() -> float:
            return 1e3 * told.seconds_until_last(next(bodies))

        def theirs() -> float:
            return 1e3 * untold.seconds_until_last(next(bodies))

        found = paired(ours=ours, theirs=theirs)
    return Figure(
        name="template_cache",
        value=found.ours,
        unit=f"ms until the last of {watchers.PROCESSES} processes",
        baseline="ms without news",
        baseline_value=found.theirs,
        ratio=found.ratio,
        target=f"<= {_TARGET_MS} ms",
        met=found.ours <= _TARGET_MS,
    )
