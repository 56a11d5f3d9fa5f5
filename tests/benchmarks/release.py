"""[release] 200,000 notifications scheduled for one moment: from that moment until all are sent.

Compared with [pipeline_http], which has to accept its notifications and releases none.
"""

from __future__ import annotations

import time
from threading import Event
from typing import Final

from notifications.rules.lane import Priority
from notifications.rules.states import Status
from tests.benchmarks import costs, load, pipeline, rows
from tests.benchmarks.figures import Figure, paired
from tests.benchmarks.load import Undelivered
from tests.benchmarks.stage import Stage

_COUNT: Final = 200_000
_PIPELINE_COUNT: Final = 40_000
_TARGET: Final = 0.8
_POLL_SECONDS: Final = 0.25
_DRAIN_SECONDS: Final = 600.0
_pause: Final = Event()


def measure(stage: Stage) -> Figure:
    """Measure it."""
    stage.run()
    meter = costs.Meter()
    pipeline.rate(stage, costs.Meter(), count=2 * load.BATCH)
    rounds: list[float] = []

    def releasing() -> float:
        rounds.append(_rate(stage, meter))
        return rounds[-1]

    found = paired(
        ours=releasing,
        theirs=lambda: pipeline.rate(stage, costs.Meter(), count=_PIPELINE_COUNT),
    )
    return Figure(
        name="release",
        value=found.ours,
        unit=f"deliveries/s, {_COUNT:,} scheduled for one moment",
        baseline="deliveries/s (pipeline_http)",
        baseline_value=found.theirs,
        ratio=found.ratio,
        target=f">= {_TARGET}x",
        met=found.ratio >= _TARGET,
        notes=(meter.each(len(rounds) * _COUNT), "each delivery was called for once"),
    )


def _rate(stage: Stage, meter: costs.Meter) -> float:
    stage.clear()
    with stage.standing_still(), stage.database() as link:
        rows.write(
            link,
            _COUNT,
            priority=Priority.P2,
            status=Status.SCHEDULED,
            reason="scheduled",
            with_contact=False,
        )
    began = time.perf_counter()
    with costs.measured(stage.components(), into=meter):
        deadline = time.monotonic() + _DRAIN_SECONDS
        while left := load.unsent(stage, priority=Priority.P2):
            if time.monotonic() > deadline:
                raise Undelivered(f"{left} of {_COUNT} are not sent")
            _pause.wait(_POLL_SECONDS)
    spent = time.perf_counter() - began
    with stage.database() as link:
        [(sent, calls)] = link.execute(
            "SELECT (SELECT count(*) FROM delivery WHERE status = %s), count(*) FROM attempt",
            [Status.SENT],
        ).fetchall()
    if (sent, calls) != (_COUNT, _COUNT):
        raise Undelivered(f"{sent} of {_COUNT} are sent, with {calls} calls")
    stage.clear()
    return _COUNT / spent
