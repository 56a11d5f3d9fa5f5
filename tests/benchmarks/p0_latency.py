"""[p0_latency] How long an OTP takes to the provider while 50,000 marketing mails wait.

Milliseconds from the producer's POST until the provider has answered the call: the row's
`call_started_at` plus the attempt's latency, so a little more than "accept to provider call".
Compared with the same on an idle stack.
"""

from __future__ import annotations

import time
from collections.abc import Sequence
from statistics import median
from threading import Event
from typing import Final

from notifications.core.rules.lane import Priority
from tests.benchmarks import load
from tests.benchmarks.figures import Figure, paired
from tests.benchmarks.stage import Stage

_FLOOD: Final = 50_000
_CODES: Final = 150
_PACE_SECONDS: Final = 0.04
"""Between two OTPs: the flood must not be gone before the last of them."""
_TARGET: Final = 2.0
_pause: Final = Event()


def measure(stage: Stage) -> Figure:
    """Measure it."""
    stage.run()
    percentiles(stage, load.singles(50, priority="P0"))
    calm: list[float] = []
    busy: list[float] = []
    waiting: list[int] = []

    def idle() -> float:
        stage.clear()
        p50, p99 = percentiles(stage, load.singles(_CODES, priority="P0"))
        calm.append(p50)
        return p99

    def flooded() -> float:
        with stage.standing_still("channels", "transactional"):
            load.post_batches(stage, load.batches(_FLOOD, priority="P3"))
        codes = load.singles(_CODES, priority="P0")
        p50, p99 = percentiles(stage, codes)
        waiting.append(load.unsent(stage, priority=Priority.P3))
        stage.clear()
        busy.append(p50)
        return p99

    found = paired(ours=flooded, theirs=idle)
    return Figure(
        name="p0_latency",
        value=found.ours,
        unit=f"ms p99 while {_FLOOD:,} P3 wait",
        baseline="ms p99 idle",
        baseline_value=found.theirs,
        ratio=found.ratio,
        target=f"<= {_TARGET:.0f}x",
        met=found.ratio <= _TARGET,
        notes=(
            f"p50 flooded {median(busy):.1f} ms, idle {median(calm):.1f} ms",
            f"P3 still waiting after the last OTP: at least {min(waiting):,}",
        ),
    )


def percentiles(
    stage: Stage, bodies: Sequence[bytes], *, every_seconds: float = _PACE_SECONDS
) -> tuple[float, float]:
    """Post at a steady pace; returns the 50th and 99th percentile in ms."""
    posted: list[float] = []
    ids: list[str] = []
    link = load.connection(stage)
    begin = time.perf_counter()
    for number, body in enumerate(bodies):
        _pause.wait(max(0.0, begin + number * every_seconds - time.perf_counter()))
        posted.append(time.time())  # noqa: TID251 - compared with Postgres's clock on this machine
        ids.append(load.post_one(stage, link, body))
    answered = load.answered_at(stage, ids)
    took = sorted((then - at) * 1000 for at, then in zip(posted, answered, strict=True))
    return took[len(took) // 2], took[len(took) * 99 // 100]
