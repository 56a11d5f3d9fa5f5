"""What there is to run: the product's processes as data.

The first entry serves the others, so it is started first and stopped last. `{web}`, `{flower}` and
`{sandbox}` stand for ports. Queues: P0 has a worker of its own, so that no flood can delay an OTP;
the other lanes share two here, where production gives each channel its own. One of the two leaves
marketing to the other: a campaign then uses one processor, and an OTP finds the other free.
"""

from __future__ import annotations

import signal
import sys
from dataclasses import asdict, dataclass
from typing import Final

from celeryconfig import OPS
from notifications.rules.lane import LANES, Mode, Priority
from notifyproj.devstack.ports import LOOPBACK


@dataclass(frozen=True, slots=True, kw_only=True)
class Ports:
    """The loopback ports of what can be opened in a browser."""

    web: int = 8000
    flower: int = 5555
    sandbox: int = 8025


@dataclass(frozen=True, slots=True)
class Answers:
    """Ready when `GET path` on this port answers 200."""

    port: str
    path: str


@dataclass(frozen=True, slots=True)
class OutputShows:
    """Ready when this text is in its log."""

    text: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Program:
    """One entry of the table."""

    name: str
    arguments: tuple[str, ...]
    """After the Python interpreter."""
    ready: Answers | OutputShows

    yields: bool = False
    """Gives way to the others for the processor: bulk work beside an OTP on one machine."""

    leash: signal.Signals = signal.SIGKILL
    """What it gets when its supervisor is killed. Postgres and the broker end in the same moment:
    a worker could settle nothing more, and would wait for them instead of ending."""

    def command(self, ports: Ports) -> list[str]:
        """The command line with its ports filled in."""
        polite = ["/usr/bin/env", "nice", "-n", _NICENESS] if self.yields else []
        return [*polite, sys.executable, *(part.format(**asdict(ports)) for part in self.arguments)]


_NICENESS: Final = "10"
"""Of 19: a P0 worker gets about ten times the processor of a bulk worker that wants all of it."""
_CELERY: Final = ("-m", "celery", "-A", "notifyproj")


def _worker(name: str, *, queues: list[str], concurrency: int, yields: bool = False) -> Program:
    return Program(
        name=name,
        yields=yields,
        arguments=(
            *(*_CELERY, "worker", f"--hostname={name}@%h", f"--queues={','.join(queues)}"),
            *("--pool=threads", f"--concurrency={concurrency}", "--loglevel=INFO"),
            *("--without-gossip", "--without-mingle"),  # messages between workers without a reader
            "--heartbeat-interval=10",  # for Flower: a worker that is silent for twenty is offline
        ),
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
        leash=signal.SIGTERM,  # it must end the process that it has made for the requests
    ),
    _worker("p0", queues=_P0, concurrency=16),
    _worker("channels", queues=_OTHERS, concurrency=4, yields=True),
    _worker("transactional", queues=_TRANSACTIONAL, concurrency=32, yields=True),
    _worker("ops", queues=[OPS], concurrency=2),
    Program(
        name="beat",
        arguments=(*_CELERY, "beat", "--loglevel=INFO"),
        ready=OutputShows("is starting."),  # that it ticks is seen in the web's /readyz
    ),
    Program(
        name="flower",
        arguments=(
            # It reads queues and events, so it needs the configuration and no Django: 50 MiB less.
            *("-m", "celery", "--config=celeryconfig", "flower"),
            *(f"--address={LOOPBACK}", "--port={flower}"),
            "--conf=notifyproj/flowerconfig.py",
        ),
        ready=Answers("flower", "/healthcheck"),
    ),
)


def program(name: str) -> Program:
    """The entry of this name; raises KeyError for one that is not in the table."""
    return {entry.name: entry for entry in PROGRAMS}[name]
