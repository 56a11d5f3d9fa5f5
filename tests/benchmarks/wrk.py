"""wrk as a producer: a client in C, which leaves the processors to the service.

32 threads of `http.client` take 175 to 370 us of CPU for a request; wrk takes about 20.
"""

from __future__ import annotations

import json
import shutil
import subprocess
from pathlib import Path
from typing import Final, NamedTuple

from notifyproj.devstack.ports import LOOPBACK
from tests.benchmarks.load import Refused, next_run
from tests.benchmarks.stage import PEOPLE, TEMPLATE, TYPE, Stage

_SCRIPT: Final = Path(__file__).with_name("singles.lua")


class NoWrk(Exception):
    """wrk is not installed; the message names the cure."""


class Posted(NamedTuple):
    """Requests of a run, each accepted."""

    requests: int
    seconds: float
    p50_ms: float
    p99_ms: float


def post_singles(stage: Stage, *, callers: int, seconds: int) -> Posted:
    """Post single notifications on `callers` connections, each after the answer of the last.

    Raises:
        NoWrk: wrk is not installed.
        Refused: an answer was not of the class 2xx, or did not come.
    """
    program = shutil.which("wrk")
    if program is None:
        raise NoWrk("The benchmark single_accept needs wrk: apt-get install wrk.")
    command = [program, "--threads=1", f"--connections={callers}", f"--duration={seconds}s"]
    command += [f"--script={_SCRIPT}", f"--header=Authorization: Bearer {stage.key}"]
    command += ["--header=Content-Type: application/json"]
    command += [f"http://{LOOPBACK}:{stage.ports.web}/v1/notifications", "--"]
    command += [str(next_run()), str(PEOPLE), TYPE, TEMPLATE]
    told = subprocess.run(command, capture_output=True, text=True, check=True)
    found = json.loads(told.stdout.splitlines()[-1])
    if found["refused"] or found["failed"]:
        raise Refused(f"{found['refused']} refused, {found['failed']} without an answer")
    return Posted(found["requests"], found["seconds"], found["p50_ms"], found["p99_ms"])
