"""The baseline: Celery as it comes, with a task that does nothing.

Default settings, two prefork children, the product's own broker. The product's processes stand
still meanwhile, so the baseline has the machine to itself.
"""

from __future__ import annotations

import sys
import time
from threading import Event
from typing import Final

import redis
from celery import Celery

from notifyproj.devstack.child_process import Child
from notifyproj.devstack.supervisor.process import ROOT
from tests.benchmarks.stage import VAR, Stage

NAME: Final = "plain Celery"
_QUEUE: Final = "celery"
_TASKS: Final = 3_000
"""About five seconds of consuming."""
_START_SECONDS: Final = 30.0
_pause: Final = Event()

app = Celery("plain", broker="", broker_read_url=None)


@app.task(name="plain.nothing")  # type: ignore[untyped-decorator] # Celery has no types
def nothing() -> None:
    """Do nothing."""


def publish_rate(stage: Stage) -> float:
    """Tasks published in a second by a loop of `apply_async`."""
    with stage.standing_still():
        rate = _publish(stage)
        _broker(stage).delete(_QUEUE)
    return rate


def consume_rate(stage: Stage) -> float:
    """Tasks consumed in a second by one worker that is warm."""
    with stage.standing_still():
        _publish(stage)
        worker = Child("plain", log=VAR / "log" / "plain.log")
        worker.log.unlink(missing_ok=True)
        command = [sys.executable, "-m", "celery", "-A", "tests.benchmarks.plain", "-b"]
        command += [stage.broker_url, "worker", "--concurrency=2"]
        worker.spawn(command, folder=ROOT, environ={"PATH": "/usr/bin:/bin", "C_FORCE_ROOT": "1"})
        try:
            return _watch(stage)
        finally:
            worker.stop()


def _publish(stage: Stage) -> float:
    app.conf.broker_url = stage.broker_url
    nothing.apply_async()  # opens the connection
    began = time.perf_counter()
    for _ in range(_TASKS):
        nothing.apply_async()
    return _TASKS / (time.perf_counter() - began)


def _watch(stage: Stage) -> float:
    """Tasks a second from the first tenth that is gone until the queue is empty."""
    broker = _broker(stage)
    warm_at, left = 0.0, _TASKS
    deadline = time.monotonic() + _START_SECONDS
    while depth := broker.llen(_QUEUE):
        if not warm_at and depth < _TASKS * 0.9:
            warm_at, left = time.perf_counter(), depth
        if time.monotonic() > deadline:
            raise TimeoutError(f"the baseline's worker left {depth} of {_TASKS} tasks")
        _pause.wait(0.005)
    return left / (time.perf_counter() - warm_at)


def _broker(stage: Stage) -> redis.Redis:
    return redis.Redis.from_url(stage.broker_url)
