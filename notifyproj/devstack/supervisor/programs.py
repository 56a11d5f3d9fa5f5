"""The table of the product's processes.

The first program serves the others, so the supervisor starts the first program first and stops the
first program last. `{web}`, `{live}`, `{flower}` and `{sandbox}` stand for ports. Two separate
workers consume P0, so that neither a flood nor a killed worker can delay an OTP. Two workers share
the other lanes; production has a worker for each channel. The worker `transactional` consumes no
marketing (P3): a campaign then uses one processor, and the other processor is free for an OTP.
"""

from __future__ import annotations

import os
import signal
import sys
from dataclasses import asdict, dataclass
from typing import Final

from notifications.core.rules.lane import EXPAND, LANES, OPS, TELL, Mode, Priority
from notifyproj.devstack.ports import LOOPBACK
from notifyproj.processes import command


@dataclass(frozen=True, slots=True, kw_only=True)
class Ports:
    """Loopback ports of the programs with pages for a browser."""

    web: int = 8000
    live: int = 8001
    flower: int = 5555
    sandbox: int = 8025


@dataclass(frozen=True, slots=True)
class Answers:
    """Sign of readiness: `GET path` on the port answers 200; `port`: a field of `Ports`."""

    port: str
    path: str


@dataclass(frozen=True, slots=True)
class OutputShows:
    """Sign of readiness: the text is in the log of the latest start."""

    text: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Program:
    """A program of the table."""

    name: str
    arguments: tuple[str, ...]
    """Arguments of the Python interpreter."""
    ready: Answers | OutputShows

    low_priority: bool = False
    """Low scheduling priority: bulk work beside an OTP on one machine."""

    leash: signal.Signals = signal.SIGKILL
    """Signal to an interpreter at the supervisor's death; a fork gets SIGKILL. Postgres and the
    broker end in the same moment: a worker could settle no delivery and would wait for them."""

    def command(self, ports: Ports) -> list[str]:
        """Return the command line with the values of `ports`."""
        polite = ["/usr/bin/env", "nice", "-n", _NICENESS] if self.low_priority else []
        return [*polite, sys.executable, *self._fill_in(ports)]

    def title(self, ports: Ports) -> str:
        """Return the command line that `ps` shows."""
        return " ".join([sys.executable, *self._fill_in(ports)])

    def run(self, ports: Ports) -> None:
        """Run the program, `-m` and a module, in this process instead of an interpreter's."""
        if self.low_priority:
            os.nice(int(_NICENESS))
        command.run(self._fill_in(ports))

    def _fill_in(self, ports: Ports) -> list[str]:
        return [part.format(**asdict(ports)) for part in self.arguments]


_NICENESS: Final = "10"
"""Niceness, at most 19: a P0 worker gets about ten times the processor time of a bulk worker."""


def _worker(
    name: str, *, queues: list[str], concurrency: int, low_priority: bool = False
) -> Program:
    return Program(
        name=name,
        low_priority=low_priority,
        arguments=command.worker(name, queues=queues, concurrency=concurrency),
        ready=OutputShows(" ready."),
    )


_P0: Final = [
    lane.name for lane in LANES if lane.mode is Mode.LIVE and lane.priority is Priority.P0
]
_OTHERS: Final = [lane.name for lane in LANES if lane.name not in _P0]
_TRANSACTIONAL: Final = [
    lane.name for lane in LANES if lane.name not in _P0 and lane.priority is not Priority.P3
]

PROGRAMS: Final = (
    Program(
        name="sandbox",
        arguments=(
            *("-m", "providers.sandbox_server", "--port={sandbox}"),
            f"--receipts-url=http://{LOOPBACK}:{{web}}/v1/receipts/sandbox",
            f"--admin-url=http://{LOOPBACK}:{{web}}/admin",
        ),
        ready=Answers("sandbox", "/healthz"),
    ),
    Program(
        name="web",
        arguments=(*("-m", "notifyproj.web", "--port={web}"),),
        ready=Answers("web", "/healthz"),
        leash=signal.SIGTERM,  # the main process must end its process for the requests
    ),
    Program(
        name="live",
        arguments=(*("-m", "notifyproj.live", "--port={live}"),),
        ready=Answers("live", "/healthz"),
    ),
    # Two, as in production: P0 goes on while one is killed, frozen or starting.
    _worker("p0", queues=_P0, concurrency=16),
    _worker("p0-2", queues=_P0, concurrency=16),
    _worker("channels", queues=_OTHERS, concurrency=4, low_priority=True),
    _worker("transactional", queues=_TRANSACTIONAL, concurrency=32, low_priority=True),
    # Four threads: two for the sweeps, and at most two runs of `tell`
    # (`notifications.core.webhooks`).
    _worker("ops", queues=[OPS, TELL], concurrency=4),
    # A process of its own: the expansion of a bulk job keeps a processor busy.
    _worker("expand", queues=[EXPAND], concurrency=2, low_priority=True),
    Program(
        name="beat",
        arguments=(*command.CELERY, "beat", "--loglevel=INFO"),
        ready=OutputShows("periodic_tasks_read"),
    ),
    Program(
        name="flower",
        arguments=(*command.FLOWER, f"--address={LOOPBACK}", "--port={flower}"),
        ready=Answers("flower", "/healthcheck"),
    ),
)


def program(name: str) -> Program:
    """Return the program of a name; raises KeyError for an unknown name."""
    return {entry.name: entry for entry in PROGRAMS}[name]
