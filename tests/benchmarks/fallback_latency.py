"""[fallback_latency] Time of an OTP to the second channel while the first has an open breaker.

Milliseconds from the producer's POST until the second channel's provider has answered, compared
with an OTP that goes to this channel directly.
"""

from __future__ import annotations

import json
import time
from collections.abc import Sequence
from threading import Event
from typing import Final
from uuid import UUID

from notifications.core.rules import ids
from notifications.core.rules.switches import SwitchKind
from providers.contract import Channel
from tests.benchmarks import load, p0_latency
from tests.benchmarks.figures import Figure, paired
from tests.benchmarks.stage import Stage

_CODES: Final = 150
_PACE_SECONDS: Final = 0.04
_READ_SECONDS: Final = 2.5
"""Seconds after which every process has read the override."""
_TARGET: Final = 2.0
_PUSH: Final = ("fcm", Channel.PUSH)
_pause: Final = Event()


def measure(stage: Stage) -> Figure:
    """Measure the latency of both ways in interleaved pairs."""
    stage.run()
    p0_latency.percentiles(stage, load.singles(50, priority="P0"))
    medians: dict[str, list[float]] = {"chain": [], "direct": []}

    def direct() -> float:
        stage.clear()
        p50, p99 = p0_latency.percentiles(stage, load.singles(_CODES, priority="P0"))
        medians["direct"].append(p50)
        return p99

    def chain() -> float:
        stage.clear()
        _hold()
        _pause.wait(_READ_SECONDS)
        try:
            p50, p99 = _percentiles(stage, _with_chain())
        finally:
            _let_go()
        medians["chain"].append(p50)
        return p99

    found = paired(ours=chain, theirs=direct)
    return Figure(
        name="fallback_latency",
        value=found.ours,
        unit="ms p99 to the second channel while the first is open",
        baseline="ms p99 to this channel directly",
        baseline_value=found.theirs,
        ratio=found.ratio,
        target=f"<= {_TARGET:.0f}x",
        met=found.ratio <= _TARGET,
        notes=tuple(
            f"p50 {name} {', '.join(f'{each:.1f}' for each in found)} ms"
            for name, found in medians.items()
        ),
    )


def _hold() -> None:
    from notifications.core.operations import switches  # noqa: PLC0415 - after Django is set up

    target = switches.SwitchTarget(
        kind=SwitchKind.PROVIDER, value=_PUSH[0], channel=Channel(_PUSH[1])
    )
    switches.set_switch(target, reason="bench", expires_at=None, by="bench")


def _let_go() -> None:
    from notifications.core.operations import switches  # noqa: PLC0415 - after Django is set up

    switches.resume(switches.active(), by="bench")


def _with_chain() -> list[bytes]:
    fields = {"channels": ["push", "email"], "fallback_chain": True}
    return [
        json.dumps(json.loads(body) | fields).encode()
        for body in load.singles(_CODES, priority="P0")
    ]


def _percentiles(stage: Stage, bodies: Sequence[bytes]) -> tuple[float, float]:
    """Post at a steady pace; return the 50th and 99th percentile to the second delivery, in ms."""
    posted: list[float] = []
    second: list[str] = []
    link = load.connection(stage)
    begin = time.perf_counter()
    for number, body in enumerate(bodies):
        _pause.wait(max(0.0, begin + number * _PACE_SECONDS - time.perf_counter()))
        posted.append(time.time())  # noqa: TID251 - compared with Postgres's clock on this machine
        first = UUID(load.post_one(stage, link, body))
        second.append(str(ids.delivery_id(ids.notification_of(first), 2)))
    answered = load.answered_at(stage, second)
    took = sorted((then - at) * 1000 for at, then in zip(posted, answered, strict=True))
    return took[len(took) // 2], took[len(took) * 99 // 100]
