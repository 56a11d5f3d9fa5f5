"""[idle] What the whole stack asks of the broker, and takes of memory, while nothing happens.

All processes of the demo, Flower and the sandbox included; the sinks of the other benchmarks do not
count. Memory is PSS: pages that several processes share are counted once.
"""

from __future__ import annotations

import subprocess
import sys
import time
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import asdict
from threading import Event
from typing import Final

import redis

from notifyproj.devstack.supervisor.process import ROOT, ProcessFailed
from notifyproj.devstack.supervisor.programs import PROGRAMS
from tests.benchmarks import costs
from tests.benchmarks.figures import Figure
from tests.benchmarks.stage import VAR, Stage

_SECONDS: Final = 15.0
_STARTING_SECONDS: Final = 10.0
"""Workers that are ready still declare queues, and Flower asks them about themselves."""
_COMMANDS: Final = 20
"""A second: polls, periodic tasks, heartbeats, and each worker's probe of the broker."""
_MEBIBYTES: Final = 700
_SINKS: Final = frozenset({"sink", "google"})
_pause: Final = Event()


def measure_commands(stage: Stage) -> Figure:
    """Commands a second that the broker gets."""
    stage.run(entry.name for entry in PROGRAMS)
    stage.clear()
    _pause.wait(_STARTING_SECONDS)
    return at_rest("idle", stage.components(), broker_url=stage.broker_url, seconds=_SECONDS)


def at_rest(name: str, components: Mapping[str, int], *, broker_url: str, seconds: float) -> Figure:
    """Measure commands that a broker gets, and the CPU of components (name -> root pid)."""
    meter = costs.Meter()
    with (
        costs.measured(components, into=meter),
        redis.Redis.from_url(broker_url) as broker,
    ):
        before, began = _commands(broker), time.perf_counter()
        _pause.wait(seconds)
        took = time.perf_counter() - began
        rate = (_commands(broker) - before) / took
    shares = {part: spent / took for part, spent in meter.seconds.items()}
    dearest = sorted(shares.items(), key=lambda pair: -pair[1])
    return Figure(
        name=name,
        value=rate,
        unit="broker commands/s",
        target=f"< {_COMMANDS}",
        met=rate < _COMMANDS,
        notes=(
            f"CPU of everything: {sum(shares.values()):.1%} of a core over {took:.0f} s",
            ", ".join(f"{part} {share:.2%}" for part, share in dearest),
        ),
    )


def measure_memory(stage: Stage) -> Figure:
    """Memory of all processes and servers, with the demo's settings of PostgreSQL."""
    stage.run([])
    with stage.postgres_of_the_demo(), _together(stage) as processes:
        _pause.wait(_STARTING_SECONDS)
        servers = {name: pid for name, pid in stage.components().items() if name not in _SINKS}
        parts = costs.memory({**servers, **processes})
    parts["supervisor"] -= sum(parts[name] for name in processes if name != "supervisor")
    largest = sorted(parts.items(), key=lambda pair: -pair[1])
    return Figure(
        name="idle_memory",
        value=sum(parts.values()),
        unit="MiB PSS",
        target=f"< {_MEBIBYTES}",
        met=sum(parts.values()) < _MEBIBYTES,
        notes=(", ".join(f"{name} {size:.0f}" for name, size in largest),),
    )


@contextmanager
def _together(stage: Stage) -> Iterator[dict[str, int]]:
    """Run the processes as `make demo` does; yields their ids, with the supervisor's."""
    ports = map(str, asdict(stage.ports).values())
    command = [sys.executable, "-m", "tests.benchmarks.together", str(VAR), *ports]
    with subprocess.Popen(
        command, cwd=ROOT, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True
    ) as supervisor:
        if supervisor.stdout is None or not supervisor.stdout.readline():
            raise ProcessFailed(f"the processes did not start: see {VAR / 'log'}")
        files = (VAR / "run").glob("*.pid")
        yield {"supervisor": supervisor.pid} | {file.stem: int(file.read_text()) for file in files}
        supervisor.communicate()


def _commands(broker: redis.Redis) -> int:
    """Return the number of commands that a broker has got since its start."""
    return int(broker.info("stats")["total_commands_processed"])
