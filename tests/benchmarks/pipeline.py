"""[pipeline_http] [pipeline_fcm] [pipeline_ses] From the first POST until the last row is `sent`.

P2 messages with idempotency keys, in batches of a thousand: accepted, published by the relay,
claimed, past all gates, rendered, handed over, settled. By the provider:

    http   e-mails to the sandbox's adapter, one plain HTTP call each
    fcm    pushes, one HTTP/2 call each, over TLS
    ses    e-mails in signed bulk calls of fifty, by a route that is made for it

Web has two processes for requests, as in `docker-compose.yml`. Compared with the rate at which
plain Celery consumes tasks that do nothing.
"""

from __future__ import annotations

import time
from typing import Final

from tests.benchmarks import costs, load, plain, statement_cpu
from tests.benchmarks.figures import Figure, paired
from tests.benchmarks.routes import mails_by
from tests.benchmarks.ses_sink import SesSink
from tests.benchmarks.stage import VAR, Stage

_DELIVERIES: Final = 40_000
"""Several seconds, so that the relay's second weighs little."""
_WEB_PROCESSES: Final = 2
_LOGGED: Final = 10_000
"""Deliveries of the round whose statements Postgres logs."""


def measure_http(stage: Stage) -> Figure:
    """Measure it with the sandbox's adapter."""
    return _measure(stage, name="pipeline_http", channel="email", target=4.0)


def measure_fcm(stage: Stage) -> Figure:
    """Measure it with FCM."""
    return _measure(stage, name="pipeline_fcm", channel="push", target=5.0)


def measure_ses(stage: Stage) -> Figure:
    """Measure it with SES."""
    stage.run()
    sink = SesSink(VAR, port=stage.ses_port)
    sink.start()
    try:
        with mails_by(stage, "ses"):
            return _measure(stage, name="pipeline_ses", channel="email", target=7.0)
    finally:
        sink.stop()


def _measure(stage: Stage, *, name: str, channel: str, target: float) -> Figure:
    stage.run()
    count = _whole_batches(stage.size(_DELIVERIES))
    logged = min(count, _LOGGED)
    meter = costs.Meter()
    rounds: list[float] = []

    def ours() -> float:
        rounds.append(rate(stage, meter, count=count, channel=channel))
        return rounds[-1]

    with stage.web_with(processes=_WEB_PROCESSES):
        # Connections, caches, statements.
        rate(stage, costs.Meter(), count=4 * load.BATCH, channel=channel)
        found = paired(ours=ours, theirs=lambda: plain.consume_rate(stage))
        with statement_cpu.logged(stage) as statements:
            rate(stage, costs.Meter(), count=logged, channel=channel)
    return Figure(
        name=name,
        value=found.ours,
        unit="deliveries/s",
        baseline=f"empty tasks/s ({plain.NAME}, prefork 2)",
        baseline_value=found.theirs,
        ratio=found.ratio,
        target=f">= {target:.0f}x",
        met=found.ratio >= target,
        notes=(
            meter.each(len(rounds) * count),
            statements.each(logged),
            "each delivery was called for once",
        ),
    )


def _whole_batches(count: int) -> int:
    """Round up to whole batches, at least one."""
    return -(-count // load.BATCH) * load.BATCH


def rate(
    stage: Stage, meter: costs.Meter, *, count: int, channel: str = "email", priority: str = "P2"
) -> float:
    """Deliveries a second, from the first POST of `count` until the last of them is settled."""
    stage.clear()
    bodies = load.batches(count, priority=priority, channel=channel)
    with costs.measured(stage.components(), into=meter):
        began = time.perf_counter()
        load.post_batches(stage, bodies)
        load.wait_until_sent(stage, count)
        return count / (time.perf_counter() - began)
