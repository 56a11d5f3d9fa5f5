"""[provider_latency] [p1_behind_bulk] Pushes to an FCM that takes its time.

The provider is nginx over TLS and HTTP/2, behind it a server that waits before each answer: 100 to
200 ms, evenly spread. For what it is compared with, the same server answers at once.

    provider_latency   deliveries a second, as pipeline_fcm counts them
    p1_behind_bulk     p99 of a P1 from its POST until its call starts, while 200,000 P3 go to the
                       same provider; compared with the same while nothing else is sent
"""

from __future__ import annotations

import time
from collections.abc import Iterator
from contextlib import contextmanager
from statistics import median
from threading import Event
from typing import Final

from notifications.core.rules.lane import Priority
from tests.benchmarks import costs, load, pipeline
from tests.benchmarks.figures import Figure, paired
from tests.benchmarks.slow_sink import SlowSink
from tests.benchmarks.stage import VAR, Stage

_WAITS_MS: Final = (100, 200)
_AT_ONCE: Final = (0, 0)
_DELIVERIES: Final = 40_000
_FLOOD: Final = 200_000
_URGENT: Final = 150
_PACE_SECONDS: Final = 0.04
"""Between two P1."""
_RELOAD_SECONDS: Final = 1.0
"""nginx replaces its worker."""
_pause: Final = Event()


def measure_latency(stage: Stage) -> Figure:
    """Measure it."""
    stage.run()
    meter = costs.Meter()
    with slow_fcm(stage) as sink:

        def rate(waits: tuple[int, int]) -> float:
            sink.wait_for(*waits)
            return pipeline.rate(stage, meter, count=_DELIVERIES, channel="push")

        rate(_AT_ONCE)  # connections, caches, statements
        found = paired(ours=lambda: rate(_WAITS_MS), theirs=lambda: rate(_AT_ONCE))
    return Figure(
        name="provider_latency",
        value=found.ours,
        unit="deliveries/s, answers after 100 to 200 ms",
        baseline="deliveries/s, answers at once",
        baseline_value=found.theirs,
        ratio=found.ratio,
        target=">= 0.8x",
        met=found.ratio >= 0.8,
        notes=("each delivery was called for once",),
    )


def measure_urgent(stage: Stage) -> Figure:
    """Measure it."""
    flood = stage.size(_FLOOD)
    stage.run()
    calm: list[float] = []
    busy: list[float] = []
    waiting: list[int] = []
    with slow_fcm(stage) as sink:
        sink.wait_for(*_WAITS_MS)
        _until_called(stage)

        def idle() -> float:
            stage.clear()
            p50, p99 = _until_called(stage)
            calm.append(p50)
            return p99

        def flooded() -> float:
            with stage.standing_still("channels", "transactional"):
                load.post_batches(stage, load.batches(flood, priority="P3", channel="push"))
            p50, p99 = _until_called(stage)
            waiting.append(load.unsent(stage, priority=Priority.P3))
            stage.clear()
            busy.append(p50)
            return p99

        found = paired(ours=flooded, theirs=idle)
    return Figure(
        name="p1_behind_bulk",
        value=found.ours,
        unit=f"ms p99 while {flood:,} P3 are sent",
        baseline="ms p99 idle",
        baseline_value=found.theirs,
        ratio=found.ratio,
        target="<= 2x",
        met=found.ratio <= 2,
        notes=(
            f"p50 flooded {median(busy):.1f} ms, idle {median(calm):.1f} ms",
            f"P3 still waiting after the last P1: at least {min(waiting):,}",
        ),
    )


def _until_called(stage: Stage) -> tuple[float, float]:
    """Post P1 at a steady pace; returns percentiles 50 and 99 of the ms until their calls start."""
    posted: list[float] = []
    ids: list[str] = []
    link = load.connection(stage)
    begin = time.perf_counter()
    for number, body in enumerate(load.singles(_URGENT, priority="P1", channel="push")):
        _pause.wait(max(0.0, begin + number * _PACE_SECONDS - time.perf_counter()))
        posted.append(time.time())  # noqa: TID251 - compared with Postgres's clock on this machine
        ids.append(load.post_one(stage, link, body))
    called = load.called_at(stage, ids)
    took = sorted((then - at) * 1000 for at, then in zip(posted, called, strict=True))
    return took[len(took) // 2], took[len(took) * 99 // 100]


@contextmanager
def slow_fcm(stage: Stage) -> Iterator[SlowSink]:
    sink = SlowSink(VAR / "slow")
    sink.start()
    try:
        stage.google.sink.answer_through(sink.port)
        _pause.wait(_RELOAD_SECONDS)
        yield sink
    finally:
        stage.google.sink.answer_through(None)
        _pause.wait(_RELOAD_SECONDS)
        sink.stop()
